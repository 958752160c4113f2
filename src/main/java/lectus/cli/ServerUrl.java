package lectus.cli;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import lectus.config.AccessKeys;
import lectus.config.Configuration;
import lectus.config.ConfigurationException;
import lectus.config.ConfiguredStore;
import lectus.config.DocumentKeys;
import lectus.config.ListenKeys;
import lectus.config.LogKeys;
import lectus.config.ReplicatorKeys;
import lectus.config.Settings;
import lectus.config.StoreKeys;
import lectus.document.edit.RestoredCheckpoint;
import lectus.error.LectusException;
import lectus.http.client.HttpCaller.ClientSettings;
import lectus.http.client.RemoteAddress;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.metrics.DaemonThreads;
import lectus.server.Node;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** A server, or a database of one, as a command line names it, and as whom the command asks. */
public final class ServerUrl implements AutoCloseable {
  private static final Duration CONNECTING = Duration.ofSeconds(10);

  private static final String LOCAL = "http://127.0.0.1:5984";

  /** For how many seconds a server may say nothing. A busy one may make a request wait. */
  private static final String PATIENCE_SECONDS = "300";

  private static final Duration PATIENCE = Duration.ofSeconds(Long.parseLong(PATIENCE_SECONDS));

  private static final String AUTHORIZATION = "Authorization";
  private static final int UNAUTHORIZED = 401;
  private static final int NOT_FOUND = 404;
  private static final int LONGEST_ANSWER_BYTES = 64 << 20;
  private static final int IDS_AT_ONCE = 1_000;

  /** Says nothing of the text, which may have a password. */
  private static final String NO_URL =
      "The text is no URL of a server, such as http://NAME:PASSWORD@HOST:5984, with %XX for what a"
          + " URL cannot have.";

  private final URI base;
  private final Optional<String> authorization;
  private final HttpClient client;
  private final Duration patience;
  private final Runnable closing;

  private ServerUrl(
      URI base,
      Optional<String> authorization,
      HttpClient client,
      Duration patience,
      Runnable closing) {
    this.base = base;
    this.authorization = authorization;
    this.client = client;
    this.patience = patience;
    this.closing = closing;
  }

  /**
   * @param given may have a name and a password
   * @param authorities a file in PEM, in place of the JDK's
   * @throws ConfigurationException it is no URL of HTTP, or there is no password for its name
   */
  public static ServerUrl of(URI given, Optional<Path> authorities, PasswordPrompt prompt) {
    boolean isHttp = "http".equals(given.getScheme()) || "https".equals(given.getScheme());
    if (!isHttp || given.getHost() == null || given.getQuery() != null) {
      throw new ConfigurationException(NO_URL);
    }
    return new ServerUrl(
        URI.create(withoutPassword(given.toString()).replaceFirst("/+$", "")),
        authorization(given, prompt),
        client(authorities),
        PATIENCE,
        () -> {});
  }

  private static String withoutPassword(String url) {
    return url.replaceFirst("//[^/]*@", "//");
  }

  private static Optional<String> authorization(URI given, PasswordPrompt prompt) {
    if (given.getRawUserInfo() == null) {
      return Optional.empty();
    }
    String[] parts = given.getRawUserInfo().split(":", 2);
    String name = decoded(parts[0]);
    String password =
        parts.length == 2
            ? decoded(parts[1])
            : prompt
                .ask(name)
                .orElseThrow(() -> new ConfigurationException("There is no password."));
    return Optional.of(basic(name, password));
  }

  private static String basic(String name, String password) {
    byte[] both = (name + ':' + password).getBytes(StandardCharsets.UTF_8);
    return "Basic " + Base64.getEncoder().encodeToString(both);
  }

  private static String decoded(String part) {
    return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  private static HttpClient client(Optional<Path> authorities) {
    HttpClient.Builder client =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECTING);
    return authorities
        .map(file -> client.sslContext(trusting(file)).build())
        .orElseGet(client::build);
  }

  private static SSLContext trusting(Path authorities) {
    try (InputStream pem = Files.newInputStream(authorities)) {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      for (Certificate it : CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
        trusted.setCertificateEntry("ca-" + trusted.size(), it);
      }
      TrustManagerFactory managers =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      managers.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, managers.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException unusable) {
      throw new ConfigurationException(
          "The certificates in " + authorities + " cannot be used: " + unusable.getMessage() + ".");
    }
  }

  /** Returns a name as a segment of a path. */
  static String segment(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** Whether it names more than a server: a database, perhaps behind a proxy's path. */
  boolean hasPath() {
    return base.getRawPath() != null && base.getRawPath().length() > 1;
  }

  /** A server may also have a path: that of a proxy. */
  private boolean isOfDatabase() {
    try {
      return hasPath() && json(request("").build()).member("db_name").isPresent();
    } catch (IOException unknown) {
      // Whatever is asked for next fails, too, and says why.
      return false;
    }
  }

  /** Returns a document's id as a path below its database, which begins with a slash. */
  static String path(String id) {
    int slash = id.startsWith("_") ? id.indexOf('/') + 1 : 0;
    return '/' + id.substring(0, slash) + segment(id.substring(slash));
  }

  /**
   * Returns a request whose answer has to begin in time.
   *
   * @param path below this URL, encoded; begins with a slash unless it is empty
   */
  HttpRequest.Builder request(String path) {
    return requestWithoutEnd(path).timeout(patience);
  }

  /** Returns a request for {@link #jsonInTheEnd}. */
  HttpRequest.Builder requestWithoutEnd(String path) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path));
    authorization.ifPresent(it -> request.header(AUTHORIZATION, it));
    return request;
  }

  /** Sends a request. The failure of the future is an IOException whose message can be shown. */
  <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, BodyHandler<T> reading) {
    return described(client.sendAsync(request, reading));
  }

  private <T> CompletableFuture<T> described(CompletableFuture<T> answer) {
    return answer.exceptionally(
        failure -> {
          throw new CompletionException(described(failure));
        });
  }

  private Throwable described(Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    if (cause instanceof ConnectException || cause instanceof HttpTimeoutException) {
      return new IOException("no server answers at " + base, cause);
    }
    return cause instanceof IOException && cause.getMessage() == null
        ? new IOException(base + " broke the connection", cause)
        : cause;
  }

  /** Returns an answer, whatever its status. */
  <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> reading) throws IOException {
    return await(sendAsync(request, reading));
  }

  static <T> T await(CompletableFuture<T> answer) throws IOException {
    try {
      return answer.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof IOException failure) {
        throw failure;
      }
      throw e;
    }
  }

  /** Returns the JSON at a path; empty if there is nothing. */
  Optional<JsonValue> find(String path) throws IOException {
    try {
      return Optional.of(json(request(path).build()));
    } catch (RefusedException refused) {
      if (refused.status() == NOT_FOUND) {
        return Optional.empty();
      }
      throw refused;
    }
  }

  /** Returns the local document at a path; empty if there is none, or it is a checkpoint. */
  Optional<JsonObject> local(String path) throws IOException {
    return find(path)
        .filter(JsonObject.class::isInstance)
        .map(JsonObject.class::cast)
        .filter(it -> !RestoredCheckpoint.isCheckpoint(it));
  }

  /** Does something with an id. */
  interface IdTaker {
    void take(String id) throws IOException;
  }

  /**
   * Reads a list of documents, some ids at a time.
   *
   * @param kind how the ids begin that are wanted, up to a slash
   * @throws IOException the message names the id, if it is of one
   */
  void each(String list, String kind, IdTaker taker) throws IOException {
    String range = list + "?limit=" + IDS_AT_ONCE + "&endkey=" + key(kind + '0') + "&startkey=";
    String last = kind + '/';
    boolean isMore = true;
    while (isMore) {
      List<String> ids = ids(json(request(range + key(last)).build()));
      isMore = ids.size() == IDS_AT_ONCE && !ids.get(IDS_AT_ONCE - 1).equals(last);
      for (String id : ids) {
        if (!id.equals(last)) {
          take(id, taker);
        }
      }
      last = isMore ? ids.get(IDS_AT_ONCE - 1) : last;
    }
  }

  private static void take(String id, IdTaker taker) throws IOException {
    try {
      taker.take(id);
    } catch (IOException failure) {
      throw new IOException(id + ": " + failure.getMessage(), failure);
    }
  }

  private static String key(String id) {
    return segment(new JsonString(id).toJson());
  }

  private static List<String> ids(JsonValue list) {
    return list.member("rows").stream()
        .flatMap(rows -> rows.asList().stream())
        .flatMap(row -> row.textOf("id").stream())
        .toList();
  }

  /**
   * Returns what is at a path, of any length. It breaks off if nothing comes for too long.
   *
   * @param body is sent with {@code POST} unless it is empty
   * @throws RefusedException the answer's status is no success
   */
  InputStream stream(String path, byte[] body) throws IOException {
    HttpRequest.Builder request = request(path);
    if (body.length > 0) {
      request.header("Content-Type", "application/octet-stream");
      request.POST(BodyPublishers.ofByteArray(body));
    }
    return body(send(request.build(), BodyHandlers.ofInputStream()));
  }

  /** Returns the body of an answer, which has to come without a long pause. */
  private InputStream body(HttpResponse<InputStream> answer) throws IOException {
    InputStream body = new WatchedStream(answer.body(), patience);
    if (answer.statusCode() / 100 == 2) {
      return body;
    }
    try (body) {
      byte[] told = body.readNBytes(LONGEST_ANSWER_BYTES);
      throw new RefusedException(
          answer.statusCode(), new String(told, StandardCharsets.UTF_8).strip());
    }
  }

  List<String> databases() throws IOException {
    if (json(request("/_all_dbs").build()) instanceof JsonArray names) {
      return names.texts();
    }
    throw new IOException(base + " does not list its databases");
  }

  /** Returns the status of {@code HEAD}. */
  int status(String path) throws IOException {
    HttpRequest head = request(path).method("HEAD", BodyPublishers.noBody()).build();
    HttpResponse<Void> answer = send(head, BodyHandlers.discarding());
    if (answer.statusCode() == UNAUTHORIZED) {
      throw new RefusedException(UNAUTHORIZED, "");
    }
    return answer.statusCode();
  }

  /**
   * Returns the JSON of an answer.
   *
   * @throws RefusedException its status is no success
   */
  JsonValue json(HttpRequest request) throws IOException {
    return json(send(request, BodyHandlers.ofInputStream()));
  }

  private JsonValue json(HttpResponse<InputStream> answer) throws IOException {
    try (InputStream body = body(answer)) {
      return JsonValue.parse(body.readNBytes(LONGEST_ANSWER_BYTES));
    } catch (LectusException noJson) {
      throw new IOException("the answer of " + base + " is no JSON", noJson);
    }
  }

  /**
   * Returns the JSON of an answer that may begin late: as long as the server answers other
   * requests.
   *
   * @throws RefusedException its status is no success
   */
  JsonValue jsonInTheEnd(HttpRequest request) throws IOException {
    CompletableFuture<HttpResponse<InputStream>> sent =
        client.sendAsync(request, BodyHandlers.ofInputStream());
    CompletableFuture<HttpResponse<InputStream>> answer = described(sent);
    try {
      while (!answer.isDone()) {
        CompletableFuture<Void> pause = new CompletableFuture<>();
        pause.completeOnTimeout(null, patience.toMillis(), TimeUnit.MILLISECONDS);
        CompletableFuture.anyOf(answer.exceptionally(failure -> null), pause).join();
        if (!answer.isDone()) {
          status("/");
        }
      }
      return json(await(answer));
    } finally {
      sent.cancel(true);
    }
  }

  /** Returns a database, or what else is at a path, as an end of a replication. */
  JsonObject end(String path) {
    Map<String, JsonValue> headers = new TreeMap<>();
    authorization.ifPresent(it -> headers.put(AUTHORIZATION, new JsonString(it)));
    return new JsonObject(
        Map.of("url", new JsonString(base + path), "headers", new JsonObject(headers)));
  }

  /** Returns the same for a replicator's client. */
  RemoteAddress address(String path) {
    Map<String, String> headers = new TreeMap<>();
    authorization.ifPresent(it -> headers.put(AUTHORIZATION, it));
    return RemoteAddress.of(base + path, headers, Optional.empty());
  }

  /** Stops a server that was there for this command alone. */
  @Override
  public void close() {
    closing.run();
  }

  /**
   * @throws ConfigurationException one is empty: it would be the path of the server itself
   */
  static void requireNames(List<String> databases) {
    if (databases.contains("")) {
      throw new ConfigurationException("The name of a database is missing: one is empty.");
    }
  }

  /** Without its name and password. */
  @Override
  public String toString() {
    return base.toString();
  }

  /** A stream that is closed, so that its reader ends, when nothing has come for too long. */
  static final class WatchedStream extends FilterInputStream {
    private static final int LOOKS = 10;

    private static final ScheduledExecutorService WATCHES =
        Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("lectus-silence"));

    private final AtomicLong cameNanos = new AtomicLong(System.nanoTime());
    private final Future<?> watch;

    WatchedStream(InputStream in, Duration patience) {
      super(in);
      long nanos = patience.toNanos();
      this.watch =
          WATCHES.scheduleWithFixedDelay(
              () -> endAfter(nanos), nanos / LOOKS, nanos / LOOKS, TimeUnit.NANOSECONDS);
    }

    private void endAfter(long nanos) {
      if (System.nanoTime() - cameNanos.get() > nanos) {
        try {
          in.close();
        } catch (IOException gone) {
          watch.cancel(false);
        }
      }
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      cameNanos.set(System.nanoTime());
      try {
        return super.read(bytes, offset, length);
      } catch (IOException cut) {
        throw new IOException("the server broke off (" + cut.getMessage() + ")", cut);
      } finally {
        cameNanos.set(System.nanoTime());
      }
    }

    @Override
    public void close() throws IOException {
      watch.cancel(false);
      super.close();
    }
  }

  /** Parses an argument that may have a password. */
  static final class Parsing implements ITypeConverter<URI> {
    @Override
    public URI convert(String text) {
      try {
        return new URI(text);
      } catch (URISyntaxException none) {
        throw new TypeConversionException(NO_URL);
      }
    }
  }

  /** The flags of a command that name a server. */
  static final class Flags {
    private final Map<String, String> environment;
    private final PasswordPrompt prompt;

    /** Null if none was given. */
    @Option(
        names = "--url",
        paramLabel = "URL",
        converter = Parsing.class,
        description = {
          "The server. Default: " + LOCAL,
          "http://NAME:PASSWORD@… has a name and a password. Otherwise they are those of the"
              + " variables COUCHDB_USER and COUCHDB_PASSWORD, or the file that"
              + " COUCHDB_PASSWORD_FILE names; with http://NAME@… the password is asked for."
        })
    private URI url;

    @Option(
        names = "--data",
        paramLabel = "FOLDER",
        description = "In place of a server: the data folder of one that is stopped.")
    private Optional<Path> data = Optional.empty();

    @Option(
        names = "--config",
        paramLabel = "FILE",
        description =
            "With --data: the configuration file of the server that is stopped, whose limits and "
                + "layouts apply. By default the one that LECTUS_CONFIG names.")
    private Optional<Path> configuration = Optional.empty();

    @Option(
        names = "--ca",
        paramLabel = "FILE",
        description = "Certificates to trust, in PEM, in place of the JDK's.")
    private Path authorities;

    @Option(
        names = "--timeout",
        paramLabel = "SECONDS",
        defaultValue = PATIENCE_SECONDS,
        description = "For how long a server may say nothing. Default: ${DEFAULT-VALUE}")
    private int patience;

    Flags(Map<String, String> environment, PasswordPrompt prompt) {
      this.environment = environment;
      this.prompt = prompt;
    }

    /**
     * @throws ConfigurationException as {@link ServerUrl#of}
     */
    ServerUrl server() {
      if (data.isEmpty()) {
        return server(url == null ? URI.create(LOCAL) : url, Serving.USER, Serving.PASSWORD);
      }
      if (url != null) {
        throw new ConfigurationException("--url names a server, or --data a folder in its place.");
      }
      StoppedServer own =
          new StoppedServer(
              data.get(), ConfigurationFlags.read(configuration, environment, Map.of()));
      return new ServerUrl(
          own.url(),
          Optional.of(own.authorization()),
          ServerUrl.client(Optional.empty()),
          patience(),
          own::close);
    }

    Duration patience() {
      if (patience < 1) {
        throw new ConfigurationException("--timeout has to be 1 or more.");
      }
      return Duration.ofSeconds(patience);
    }

    ClientSettings clientSettings() {
      ClientSettings usual = ClientSettings.OF_COMMANDS;
      return new ClientSettings(
          usual.hosts(), usual.verifies(), Optional.ofNullable(authorities), usual.connections());
    }

    boolean nameOne() {
      return url != null || data.isPresent();
    }

    /**
     * Returns another server.
     *
     * @param user the variable that has a name for a URL without one
     * @param password the variable that has its password
     * @throws ConfigurationException as {@link ServerUrl#of}, or it is the URL of a database
     */
    ServerUrl server(URI other, String user, String password) {
      ServerUrl server = serverOrDatabase(other, user, password);
      if (server.isOfDatabase()) {
        throw new ConfigurationException(
            server + " is a database; the URL of its server is wanted, without the name.");
      }
      return server;
    }

    /** As above; it may also be the URL of a database. */
    ServerUrl serverOrDatabase(URI other, String user, String password) {
      String name = environment.getOrDefault(user, "");
      Optional<String> secret =
          Optional.ofNullable(environment.get(password)).filter(it -> !it.isEmpty());
      ServerUrl server =
          of(
              other,
              Optional.ofNullable(authorities),
              asked -> secret.filter(it -> asked.equals(name)).or(() -> prompt.ask(asked)));
      boolean isNamed = other.getRawUserInfo() != null || name.isEmpty();
      return new ServerUrl(
          server.base,
          isNamed ? server.authorization : secret.map(it -> basic(name, it)),
          server.client,
          patience(),
          () -> {});
    }
  }

  /** The server answers, and does not do it. */
  public static final class RefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int status;

    RefusedException(int status, String answer) {
      super(sentence(status, answer));
      this.status = status;
    }

    private static String sentence(int status, String answer) {
      String told = told(answer);
      return "the server answered "
          + status
          + (told.isEmpty() ? "" : ", " + told)
          + (status == UNAUTHORIZED
              ? "; the URL may have a name and a password: http://NAME:PASSWORD@…"
              : "");
    }

    /** Returns an error's name and reason, without a full stop, or the whole of another answer. */
    private static String told(String answer) {
      try {
        return JsonValue.parse(answer.getBytes(StandardCharsets.UTF_8)) instanceof JsonObject error
            ? Stream.of("error", "reason")
                .flatMap(member -> error.get(member).stream())
                .map(it -> it instanceof JsonString text ? text.value() : it.toJson())
                .collect(Collectors.joining(": "))
                .replaceFirst("\\.$", "")
            : answer;
      } catch (LectusException noJson) {
        return answer;
      }
    }

    public int status() {
      return status;
    }
  }

  /**
   * A server on the data folder of a stopped one, for one command: it listens to this machine
   * alone, and whoever may read the folder needs no password, because a token of this process will
   * do.
   */
  private static final class StoppedServer implements AutoCloseable {
    private static final int SECRET_BYTES = 32;

    /** How keys begin that say how much there may be of something, and how it is stored. */
    private static final Set<String> OF_DATA = Set.of("attachments.", "documents.", "store.");

    /** No command takes longer. */
    private static final Duration LONGEST = Duration.ofDays(100);

    private final Path keys;
    private final Store store;
    private final Node node;
    private final String token;

    /**
     * @param configured as the server is; its limits and layouts apply
     * @throws lectus.error.StoreOpenException a server has it open, among others
     */
    StoppedServer(Path data, Configuration configured) {
      if (!EmbeddedStores.isStore(data)) {
        throw new ConfigurationException("The folder " + data + " holds no Lectus store.");
      }
      byte[] secret = new byte[SECRET_BYTES];
      new SecureRandom().nextBytes(secret);
      try {
        this.keys = Files.createTempFile("lectus", ".keys");
        Files.writeString(
            keys, "hmac:_default = " + Base64.getEncoder().encodeToString(secret) + "\n");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      this.token = token(secret);
      Map<String, String> flags = new HashMap<>();
      flags.put(StoreKeys.STORE.name(), "embedded");
      flags.put(StoreKeys.DATA.name(), data.toString());
      flags.put(ListenKeys.HOST.name(), "127.0.0.1");
      flags.put(ListenKeys.PORT.name(), "0");
      flags.put(AccessKeys.JWT_KEYS.name(), keys.toString());
      // The command says what it does.
      flags.put(LogKeys.ACCESS_LOG.name(), "false");
      // How long the server keeps deleted databases is not known here.
      flags.put(DocumentKeys.KEEP_DELETED_SECONDS.name(), DocumentKeys.KEEP_DELETED_LONGEST);
      // Documents that describe replications are for the server.
      flags.put(ReplicatorKeys.MAX_JOBS.name(), "0");
      // What else is configured is for a server with clients: TLS, other hosts, a cluster.
      Configuration configuration =
          configured.only(name -> OF_DATA.stream().anyMatch(name::startsWith)).with(flags);
      try {
        this.store = ConfiguredStore.open(configuration);
      } catch (RuntimeException refused) {
        remove(keys);
        throw refused;
      }
      try {
        this.node = Node.start(Settings.of(configuration).node(), store);
      } catch (RuntimeException refused) {
        store.close();
        remove(keys);
        throw refused;
      }
    }

    private static void remove(Path keys) {
      try {
        Files.deleteIfExists(keys);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static String token(byte[] secret) {
      JWTClaimsSet claims =
          new JWTClaimsSet.Builder()
              .subject("lectus")
              .claim("_couchdb.roles", List.of("_admin"))
              .expirationTime(Date.from(Instant.now().plus(LONGEST)))
              .build();
      SignedJWT token = new SignedJWT(new JWSHeader(JWSAlgorithm.HS256), claims);
      try {
        token.sign(new MACSigner(secret));
      } catch (JOSEException e) {
        throw new IllegalStateException(e);
      }
      return token.serialize();
    }

    URI url() {
      return URI.create("http://127.0.0.1:" + node.port());
    }

    /** Returns the value of the header {@code Authorization}. */
    String authorization() {
      return "Bearer " + token;
    }

    @Override
    public void close() {
      try {
        node.close();
        store.close();
      } finally {
        remove(keys);
      }
    }
  }
}
