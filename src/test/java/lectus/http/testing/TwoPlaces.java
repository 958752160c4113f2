package lectus.http.testing;

import java.io.ByteArrayOutputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Base64;
import java.util.OptionalLong;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.Whereabouts.Moved;
import lectus.database.Whereabouts.Secret;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.Await;

/**
 * Two servers with stores, admins and users of their own, and databases that go from the former
 * place to the new one, and are then as a relocation leaves them.
 */
public final class TwoPlaces implements AutoCloseable {
  public static final String SECRET = "between the two";

  /** The admin of each of them. */
  private static final String ADMIN = basic("root:root");

  private final LectusServer former;
  private final LectusServer fresh;
  private final Store storeOfFormer;
  private final Store storeOfFresh;

  public TwoPlaces(Store storeOfFormer, Store storeOfFresh) {
    this(storeOfFormer, storeOfFresh, new TestSettings());
  }

  /**
   * @param ofFormer the settings of the old place
   */
  public TwoPlaces(Store storeOfFormer, Store storeOfFresh, TestSettings ofFormer) {
    this.former = withAdmin(storeOfFormer, ofFormer);
    this.fresh = withAdmin(storeOfFresh, new TestSettings().maxRequestBytes(MAX_REQUEST_BYTES));
    this.storeOfFormer = storeOfFormer;
    this.storeOfFresh = storeOfFresh;
  }

  private static LectusServer withAdmin(Store store, TestSettings settings) {
    LectusServer server = LectusServer.start(store, settings);
    server.put("/_node/_local/_config/admins/root", "\"root\"");
    return server;
  }

  public static final int MAX_REQUEST_BYTES = 12 << 20;

  /** Returns the value of a header. */
  public static String basic(String pair) {
    return "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
  }

  public LectusServer former() {
    return former;
  }

  public LectusServer fresh() {
    return fresh;
  }

  /** Begins a request of an admin at the old place. */
  public Request before(String method, String target) {
    return former.request(method, target).header("Authorization", ADMIN);
  }

  /** Begins a request of an admin at the new place. */
  public Request after(String method, String target) {
    return fresh.request(method, target).header("Authorization", ADMIN);
  }

  /** Has a database relocated, as an admin does; waits for the end. */
  public void relocate(String name) {
    String target = fresh.url().replace("//", "//root:root@");
    Answer begun =
        before("POST", "/_relocations")
            .json("{\"source\":\"" + name + "\",\"target\":\"" + target + "\"}")
            .send();
    requireStatus(202, begun);
    String path = "/_relocations/" + begun.member("id");
    Await.until("it has moved", () -> before("GET", path).send().member("state").equals("moved"));
  }

  /** Leaves a database as a relocation does; its requests are passed on for ever. */
  public void move(String name) {
    move(name, name, OptionalLong.empty());
  }

  /**
   * @param other its name at the new place
   * @param untilSeconds since 1970, for how long requests are passed on
   */
  public void move(String name, String other, OptionalLong untilSeconds) {
    requireStatus(201, after("POST", '/' + other + "/_image").body(image(name)).send());
    vouch(storeOfFresh, other);
    relocate(storeOfFormer, name, fresh.url() + '/' + other, untilSeconds);
  }

  /** Says that a database of the new place has moved on. */
  public void moveOn(String name, String place) {
    relocate(storeOfFresh, name, place, OptionalLong.empty());
  }

  /** Says that a database of a store is elsewhere now. */
  public static void relocate(Store store, String name, String place) {
    relocate(store, name, place, OptionalLong.empty());
  }

  /** Lets another place vouch for users of a database of the old place. */
  public void vouchAtFormer(String name) {
    vouch(storeOfFormer, name);
  }

  /** Lets another place vouch for users of a database. */
  public static void vouch(Store store, String name) {
    Catalogue catalogue = catalogue(store);
    new TransactionRunner(store, TransactionLimits.DEFAULT)
        .run(
            tx -> {
              DatabaseHandle db = catalogue.current(tx, DatabaseName.of(name));
              catalogue.vouch(tx, db, new Secret(SECRET));
              return null;
            });
  }

  private static void relocate(Store store, String name, String place, OptionalLong untilSeconds) {
    catalogue(store)
        .relocate(DatabaseName.of(name), new Moved("r1", place, new Secret(SECRET), untilSeconds));
  }

  private static Catalogue catalogue(Store store) {
    return new Catalogue(
        store, new TransactionRunner(store, TransactionLimits.DEFAULT), InstantSource.system());
  }

  private byte[] image(String name) {
    ByteArrayOutputStream image = new ByteArrayOutputStream();
    try (Connection connection =
        before("GET", '/' + URLEncoder.encode(name, StandardCharsets.UTF_8) + "/_image").open()) {
      requireStatus(200, connection.readHead());
      for (byte[] part = connection.chunk(); part.length > 0; part = connection.chunk()) {
        image.writeBytes(part);
      }
    }
    return image.toByteArray();
  }

  private static void requireStatus(int status, Answer answer) {
    if (answer.status() != status) {
      throw new IllegalStateException(answer.toString());
    }
  }

  @Override
  public void close() {
    former.close();
    fresh.close();
  }
}
