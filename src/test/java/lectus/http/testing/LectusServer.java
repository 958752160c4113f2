package lectus.http.testing;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import lectus.audit.testing.SoundStore;
import lectus.server.Node;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A whole server on a free port of the loopback address, for tests of clients: of one test, or
 * shared by those of a class, which then find the databases named and no others, all empty.
 *
 * <pre>{@code
 * @RegisterExtension static final LectusServer server = LectusServer.shared("/w");
 * }</pre>
 */
public final class LectusServer
    implements AutoCloseable, BeforeAllCallback, BeforeEachCallback, AfterAllCallback {
  private static final Pattern NAME = Pattern.compile("\"([^\"]+)\"");

  private final TestStores stores = SoundStore.stores();
  private final TestSettings settings;
  private final String[] databases;
  private Store store;
  private Node node;

  /** How many classes the test that runs is nested in that have this server. */
  private int nesting;

  private LectusServer(TestSettings settings, String... databases) {
    this.settings = settings;
    this.databases = databases;
  }

  /** Starts a server on a store that the caller closes after the server. */
  public static LectusServer start(Store store) {
    return start(store, new TestSettings());
  }

  public static LectusServer start(Store store, TestSettings settings) {
    LectusServer server = new LectusServer(settings);
    server.begin(store);
    return server;
  }

  /** Wraps a server that was started elsewhere. */
  public static LectusServer of(Node node) {
    LectusServer server = new LectusServer(new TestSettings());
    server.node = node;
    return server;
  }

  public static LectusServer shared(String... databases) {
    return shared(new TestSettings(), databases);
  }

  public static LectusServer shared(TestSettings settings, String... databases) {
    return new LectusServer(settings, databases);
  }

  private void begin(Store on) {
    store = on;
    node = Node.start(settings.toNode(), on);
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    stores.beforeAll(context);
    if (nesting++ == 0) {
      begin(stores.fresh());
    }
  }

  /** What the test before has left is sound. */
  @Override
  public void beforeEach(ExtensionContext context) {
    SoundStore.assertSound(store);
    NAME.matcher(get("/_all_dbs").body())
        .results()
        .map(name -> "/" + URLEncoder.encode(name.group(1), StandardCharsets.UTF_8))
        .forEach(name -> delete(name).expect(200));
    for (String database : databases) {
      put(database).expect(201);
    }
  }

  @Override
  public void afterAll(ExtensionContext context) {
    if (--nesting == 0) {
      close();
    }
    stores.afterAll(context);
  }

  public Store store() {
    return store;
  }

  public int port() {
    return node.port();
  }

  /** Returns the URL without a slash at the end. */
  public String url() {
    return "http://127.0.0.1:" + port();
  }

  /**
   * @param target as in the request line
   * @param headers each a name and behind it its value
   */
  public Request request(String method, String target, String... headers) {
    Request request = new Request(port(), method, target);
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return request;
  }

  public Answer get(String target) {
    return request("GET", target).send();
  }

  public Answer head(String target) {
    return request("HEAD", target).send();
  }

  public Answer delete(String target) {
    return request("DELETE", target).send();
  }

  public Answer put(String target, String json) {
    return request("PUT", target).json(json).send();
  }

  public Answer put(String target) {
    return request("PUT", target).send();
  }

  public Answer post(String target, String json) {
    return request("POST", target).json(json).send();
  }

  /**
   * Returns a figure of the server.
   *
   * @param sample its name with its labels
   */
  public long figure(String sample) {
    return get("/_node/_local/_prometheus")
        .body()
        .lines()
        .filter(line -> line.startsWith(sample + " "))
        .mapToLong(line -> (long) Double.parseDouble(line.substring(line.indexOf(' '))))
        .findFirst()
        .orElseThrow();
  }

  /** Writes a document and returns its revision: 201, or 200 for a tombstone. */
  public String write(String target, String json) {
    Answer answer = put(target, json);
    if (answer.status() / 100 != 2) {
      throw new IllegalStateException(answer.toString());
    }
    return answer.member("rev");
  }

  public Connection connect() {
    return new Connection(port());
  }

  /** Stops in order. */
  @Override
  public void close() {
    node.close();
  }
}
