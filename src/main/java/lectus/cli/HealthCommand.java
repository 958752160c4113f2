package lectus.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import lectus.config.ConfigurationException;
import lectus.config.ListenKeys;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * {@code lectus health}: whether the server that left its address is up. Container engines ask with
 * it, whatever the port is and whatever clients have to have.
 */
@Command(
    name = "health",
    description = {
      "Asks the server that left its address in the file of address-file whether it is up.",
      "The exit status is 0 if it is, and 1 if it is not or cannot reach its store."
    },
    mixinStandardHelpOptions = true)
public final class HealthCommand implements Callable<Integer> {
  private static final int FAILED = 1;
  private static final int MILLIS = 4_000;
  private static final int FIRST_FAILURE = 500;
  private static final Set<String> SCHEMES = Set.of("http", "https");
  private static final Pattern STATUS = Pattern.compile("HTTP/1\\.1 (\\d{3})\\b.*");

  private final ConfigurationFlags flags;
  private final Console console;

  public HealthCommand(Map<String, String> environment, Console console) {
    this.flags = new ConfigurationFlags(environment);
    this.console = console;
  }

  public CommandLine commandLine() {
    return flags.of(this);
  }

  @Override
  public Integer call() {
    String file = flags.configuration().get(ListenKeys.ADDRESS_FILE);
    if (file.isEmpty()) {
      throw new ConfigurationException(
          "\"address-file\" has to name the file in which the server leaves its address.");
    }
    try {
      String[] place = Files.readString(Path.of(file)).strip().split(" ");
      URI server = URI.create(place[0]);
      if (!SCHEMES.contains(String.valueOf(server.getScheme()))) {
        throw new IllegalArgumentException("no scheme of HTTP");
      }
      int status = ask(server, place.length > 1);
      console.say(status == 0 ? "It is up." : "It answers " + status + ".");
      return status < FIRST_FAILURE ? 0 : FAILED;
    } catch (IllegalArgumentException e) {
      console.complain("No server answers: " + file + " has no address.");
      return FAILED;
    } catch (IOException | GeneralSecurityException e) {
      console.complain("No server answers: " + e + ".");
      return FAILED;
    }
  }

  /**
   * Returns the status of an answer. 401 and 429 are answers of a server that is up.
   *
   * @return 0 for a server that wants a certificate of its client and says so
   */
  private static int ask(URI server, boolean isAnnounced)
      throws IOException, GeneralSecurityException {
    try (Socket plain = new Socket()) {
      plain.connect(new InetSocketAddress(server.getHost(), server.getPort()), MILLIS);
      plain.setSoTimeout(MILLIS);
      if (isAnnounced) {
        send(plain, "PROXY UNKNOWN\r\n");
      }
      return server.getScheme().equals("https") ? askOverTls(plain, server) : ask(plain, server);
    }
  }

  private static int askOverTls(Socket plain, URI server)
      throws IOException, GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {new Anybody()}, null);
    try (Socket secure =
        context.getSocketFactory().createSocket(plain, server.getHost(), server.getPort(), true)) {
      return ask(secure, server);
    } catch (SSLException refused) {
      if (String.valueOf(refused.getMessage()).startsWith("Received fatal alert: ")) {
        return 0;
      }
      throw refused;
    }
  }

  private static int ask(Socket socket, URI server) throws IOException {
    send(
        socket,
        "GET /_up HTTP/1.1\r\nHost: " + server.getAuthority() + "\r\nConnection: close\r\n\r\n");
    BufferedReader answer =
        new BufferedReader(
            new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
    Matcher status = STATUS.matcher(String.valueOf(answer.readLine()));
    if (!status.matches()) {
      throw new IOException("that was no answer");
    }
    return Integer.parseInt(status.group(1));
  }

  private static void send(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    socket.getOutputStream().flush();
  }

  /** The address is this machine's, and nothing secret is sent. */
  private static final class Anybody implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
