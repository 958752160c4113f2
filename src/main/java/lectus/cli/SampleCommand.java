package lectus.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;
import java.util.concurrent.Callable;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code lectus sample}: loads a database worth looking at. */
@Command(
    name = "sample",
    description = "Loads the Unicode character database, some 140 000 documents, into a server.",
    mixinStandardHelpOptions = true)
public final class SampleCommand implements Callable<Integer> {
  private static final Duration CONNECTING = Duration.ofSeconds(10);
  private static final int UNAUTHORIZED = 401;

  /** How many documents lie between two lines of progress where there is no terminal. */
  private static final int BETWEEN_LINES = 20_000;

  @Option(
      names = "--url",
      paramLabel = "URL",
      defaultValue = "http://127.0.0.1:5984/unicode",
      description = {
        "The database, created if it is missing. Default:",
        "${DEFAULT-VALUE}",
        "With http://NAME@… the password is asked for; http://NAME:PASSWORD@… has it."
      })
  private URI url;

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description = "Certificates to trust, in PEM, in place of the JDK's.")
  private Path authorities;

  @Spec private CommandSpec spec;

  private final boolean isTerminal;
  private final PasswordPrompt prompt;

  /**
   * @param isTerminal whether progress is one line that changes
   * @param prompt asks for a password that the URL lacks
   */
  public SampleCommand(boolean isTerminal, PasswordPrompt prompt) {
    this.isTerminal = isTerminal;
    this.prompt = prompt;
  }

  @Override
  public Integer call() {
    URI database = database();
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    try {
      DocumentLoader.Loaded loaded =
          new DocumentLoader(database, client(), authorization(), this::progress)
              .load(UnicodeCharacters.all(), (batch, c) -> UnicodeCharacters.write(c, batch));
      String before = loaded.existing() == 0 ? "" : ", " + loaded.existing() + " of them before";
      out.println("Loaded " + loaded.documents() + " documents into " + database + before);
      return 0;
    } catch (ConnectException | HttpTimeoutException e) {
      err.println("lectus: No server answers at " + database + ".");
    } catch (DocumentLoader.RefusedException e) {
      err.println("lectus: The documents could not be loaded: " + e.getMessage() + ".");
      if (e.status() == UNAUTHORIZED) {
        err.println("lectus: The server asks for a name and a password: --url http://NAME@…");
      }
    } catch (IOException | GeneralSecurityException e) {
      err.println("lectus: The documents could not be loaded: " + e.getMessage() + ".");
    }
    return 1;
  }

  /** Returns the URL without name, password and a slash at its end. */
  private URI database() {
    boolean isHttp = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
    boolean hasPath = url.getPath() != null && url.getPath().matches("/+[^/].*");
    if (!isHttp || url.getHost() == null || !hasPath || url.getQuery() != null) {
      throw new ParameterException(
          spec.commandLine(),
          "--url has to name a database, such as http://127.0.0.1:5984/unicode");
    }
    String authority = url.getRawAuthority().replaceFirst("^.*@", "");
    return URI.create(
        url.getScheme() + "://" + authority + url.getRawPath().replaceFirst("/+$", ""));
  }

  private Optional<String> authorization() {
    if (url.getRawUserInfo() == null) {
      return Optional.empty();
    }
    String[] parts = url.getRawUserInfo().split(":", 2);
    String name = decoded(parts[0]);
    String password =
        parts.length == 2
            ? decoded(parts[1])
            : prompt
                .ask(name)
                .orElseThrow(
                    () -> new ParameterException(spec.commandLine(), "There is no password."));
    byte[] both = (name + ':' + password).getBytes(StandardCharsets.UTF_8);
    return Optional.of("Basic " + Base64.getEncoder().encodeToString(both));
  }

  private static String decoded(String part) {
    return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  private HttpClient client() throws IOException, GeneralSecurityException {
    HttpClient.Builder client =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECTING);
    return authorities == null ? client.build() : client.sslContext(trusting()).build();
  }

  private SSLContext trusting() throws IOException, GeneralSecurityException {
    KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    try (InputStream pem = Files.newInputStream(authorities)) {
      for (Certificate it : CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
        trusted.setCertificateEntry("ca-" + trusted.size(), it);
      }
    }
    TrustManagerFactory managers =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, managers.getTrustManagers(), null);
    return context;
  }

  /** At a terminal the line ends in a carriage return, so the next one replaces it. */
  private void progress(int sent) {
    if (isTerminal) {
      spec.commandLine().getOut().print(sent + " documents\r");
      spec.commandLine().getOut().flush();
    } else if (sent % BETWEEN_LINES == 0) {
      spec.commandLine().getErr().println(sent + " documents so far");
      spec.commandLine().getErr().flush();
    }
  }
}
