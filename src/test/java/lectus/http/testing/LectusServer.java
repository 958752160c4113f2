package lectus.http.testing;

import static org.assertj.core.api.Assertions.assertThat;

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
 * shared by those of a class, which then find no databases.
 *
 * <pre>{@code
 * @RegisterExtension static final LectusServer server = LectusServer.shared();
 * }</pre>
 */
public final class LectusServer
    implements AutoCloseable, BeforeAllCallback, BeforeEachCallback, AfterAllCallback {
  private static final Pattern NAME = Pattern.compile("\"([^\"]+)\"");

  private final TestStores stores = TestStores.endingWith(SoundStore::assertSound);
  private final TestSettings settings;
  private Store store;
  private Node node;

  private LectusServer(TestSettings settings) {
    this.settings = settings;
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

  public static LectusServer shared() {
    return shared(new TestSettings());
  }

  public static LectusServer shared(TestSettings settings) {
    return new LectusServer(settings);
  }

  private void begin(Store on) {
    store = on;
    node = Node.start(settings.toNode(), on);
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    stores.beforeAll(context);
    begin(stores.fresh());
  }

  /** What the test before has left is sound. */
  @Override
  public void beforeEach(ExtensionContext context) {
    SoundStore.assertSound(store);
    NAME.matcher(get("/_all_dbs").body())
        .results()
        .map(name -> "/" + URLEncoder.encode(name.group(1), StandardCharsets.UTF_8))
        .forEach(name -> assertThat(delete(name).status()).as(name).isEqualTo(200));
  }

  @Override
  public void afterAll(ExtensionContext context) {
    close();
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
   */
  public Request request(String method, String target) {
    return new Request(port(), method, target);
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
