package lectus.http.api;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.GoneSubspace;
import lectus.changes.log.GoneSubspace.Image;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.FilledDatabase;
import lectus.http.testing.LectusServer;
import lectus.image.ImageFrame;
import lectus.image.ImageFrame.Body;
import lectus.image.ImageFrame.Departures;
import lectus.image.ImageFrame.Document;
import lectus.image.ImageFrame.DocumentLeaf;
import lectus.image.ImageFrame.End;
import lectus.image.ImageFrame.Header;
import lectus.image.ImageFrame.Purges;
import lectus.image.ImageFrame.Settings;
import lectus.image.ImageParser;
import lectus.image.ImageWriter;
import lectus.json.JsonBuffer;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Images over HTTP. One was saved by the first version that had images: every later version
 * restores it, and answers what that version did.
 */
final class ImageResourceTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  /** For a test that leaves more rows than an audit should look at one by one. */
  @RegisterExtension static final TestStores unaudited = new TestStores();

  private final Store store = stores.fresh();
  @AutoClose private final LectusServer server = LectusServer.start(store);
  private final HttpClient client = HttpClient.newHttpClient();

  private <T> HttpResponse<T> send(
      LectusServer to,
      String method,
      String target,
      BodyPublisher body,
      HttpResponse.BodyHandler<T> handler)
      throws IOException, InterruptedException {
    return client.send(
        HttpRequest.newBuilder(URI.create(to.url() + target)).method(method, body).build(),
        handler);
  }

  private byte[] image(String target) throws IOException, InterruptedException {
    return image(server, target);
  }

  private byte[] image(LectusServer from, String target) throws IOException, InterruptedException {
    HttpResponse<byte[]> answer =
        send(from, "GET", target, BodyPublishers.noBody(), BodyHandlers.ofByteArray());
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type")).contains("application/octet-stream");
    return answer.body();
  }

  private HttpResponse<String> restore(String name, byte[] image)
      throws IOException, InterruptedException {
    return restore(server, name, image);
  }

  private HttpResponse<String> restore(LectusServer to, String name, byte[] image)
      throws IOException, InterruptedException {
    return send(
        to,
        "POST",
        "/" + name + "/_image",
        BodyPublishers.ofByteArray(image),
        BodyHandlers.ofString());
  }

  private static String endOf(byte[] image) {
    ImageParser parser = new ImageParser(frame -> {});
    parser.take(image, 0, image.length);
    return parser.finish().sequence().toString();
  }

  private static byte[] join(byte[]... parts) {
    byte[] all = {};
    for (byte[] part : parts) {
      int length = all.length;
      all = Arrays.copyOf(all, length + part.length);
      System.arraycopy(part, 0, all, length, part.length);
    }
    return all;
  }

  private void assertSame(String one, String other) {
    assertThat(FilledDatabase.shown(server, other)).isEqualTo(FilledDatabase.shown(server, one));
  }

  @Test
  void an_image_with_increments_comes_back_as_a_database_that_answers_the_same() throws Exception {
    FilledDatabase.fill(server, "db");
    byte[] whole = image("/db/_image?follower=nightly");
    String rev = server.get("/db/d1").member("_rev");
    server.delete("/db/d1?rev=" + rev).expect(200);
    String purged = server.get("/db/d2").member("_rev");
    server.post("/db/_purge", "{\"d2\":[\"" + purged + "\"]}");
    server.put("/db/_local/checkpoint", "{\"_rev\":\"0-1\",\"seq\":8}");
    byte[] first = image("/db/_image?follower=nightly&since=" + endOf(whole));
    assertThat(first.length).isLessThan(whole.length / 2);
    server.write("/db/e", "{\"n\":1}");
    byte[] second = image("/db/_image?follower=nightly&since=" + endOf(first));

    HttpResponse<String> stored = restore("copy", join(whole, first, second));
    assertThat(stored.statusCode()).as(stored.body()).isEqualTo(201);
    assertThat(stored.body()).contains("\"ok\":true").contains(endOf(second));
    assertSame("db", "copy");
    server.get("/copy/d2").expect(404);
    String found =
        server.post("/copy/_find", json("{'selector':{'n':{'$gt':17}},'use_index':'n'}")).body();
    assertThat(found).contains("d18", "d19");

    assertThat(restore("copy", whole).statusCode()).isEqualTo(412);
    assertThat(restore("db", whole).body()).contains("file_exists");
    assertThat(restore("earlier", join(whole, first)).statusCode()).isEqualTo(201);
    server.get("/earlier/e").expect(404);
  }

  @Test
  void contents_are_named_in_order_and_by_sixteen_bytes_each() throws Exception {
    server.put("/db");
    String target = "/db/_image?follower=nightly";
    String since = target + "&since=" + endOf(image(target));
    for (int length : List.of(1, 15, 17, 32)) {
      HttpResponse<String> answer =
          send(
              server,
              "POST",
              since,
              BodyPublishers.ofByteArray(new byte[length]),
              BodyHandlers.ofString());
      assertThat(answer.statusCode()).as("%d", length).isEqualTo(400);
    }
    for (int length : List.of(0, 16)) {
      HttpResponse<byte[]> answer =
          send(
              server,
              "POST",
              since,
              BodyPublishers.ofByteArray(new byte[length]),
              BodyHandlers.ofByteArray());
      assertThat(endOf(answer.body())).isEqualTo(since.replaceFirst(".*since=", ""));
    }
  }

  @Test
  void documents_whose_rows_are_too_many_for_one_transaction_are_stored_in_several()
      throws Exception {
    try (LectusServer large = LectusServer.start(unaudited.fresh())) {
      storeLarge(large);
    }
  }

  private void storeLarge(LectusServer large) throws IOException, InterruptedException {
    large.put("/db").expect(201);
    large.put("/db/_feeds/f", "{\"channels\":\"ch\"}");
    // Each channel has the id once more.
    String id = "d".repeat(500);
    String channels =
        IntStream.range(0, 100)
            .mapToObj(i -> "\"" + i + "\"")
            .collect(Collectors.joining(",", "[", "]"));
    String documents =
        IntStream.range(0, 230)
            .mapToObj(i -> "{\"_id\":\"" + id + i + "\",\"ch\":" + channels + "}")
            .collect(Collectors.joining(",", "{\"docs\":[", "]}"));
    Answer written = large.post("/db/_bulk_docs", documents);
    assertThat(written.status()).as(written.body()).isEqualTo(201);
    HttpResponse<String> stored = restore(large, "copy", image(large, "/db/_image"));
    assertThat(stored.statusCode()).as(stored.body()).isEqualTo(201);
    String path = "/_changes?filter=_feed/f&channel=99";
    large.get("/copy" + path).expect(large.get("/db" + path).body());
  }

  @Test
  void while_a_late_index_is_filled_line_feeds_keep_the_connection() throws Exception {
    FilledDatabase.fill(server, "db");
    byte[] whole = image("/db/_image?follower=a");
    server.post("/db/_index", json("{'index':{'fields':['ch']},'name':'late','ddoc':'late'}"));
    byte[] next = image("/db/_image?follower=a&since=" + endOf(whole));
    assertThat(restore("soon", whole).body()).startsWith("{\"ok\":true");

    HttpResponse<String> stored = restore("copy", join(whole, next));
    assertThat(stored.statusCode()).as(stored.body()).isEqualTo(201);
    assertThat(stored.headers().firstValue("content-encoding")).isEmpty();
    assertThat(stored.body()).matches("\n+\\{\"ok\":true,\"update_seq\":\"[0-9a-f]+\"}\n");
    assertSame("db", "copy");
    String found =
        server
            .post("/copy/_find", json("{'selector':{'ch':'c1'},'use_index':'late','limit':99}"))
            .body();
    assertThat(found).contains("\"d1\"", "\"d19\"").doesNotContain("\"d2\"");
  }

  @Test
  void an_image_of_users_is_stored_where_users_are_and_no_other_is() throws Exception {
    server.put("/_users");
    server.put("/db");
    server.put("/db%2F_replicator");
    byte[] users = image("/_users/_image");
    byte[] other = image("/db/_image");
    byte[] replications = image("/db%2F_replicator/_image");
    server.delete("/_users");
    for (HttpResponse<String> refused :
        List.of(
            restore("copy", users),
            restore("_users", other),
            restore("a%2F_replicator", users),
            restore("_users", replications),
            restore("copy", replications))) {
      assertThat(refused.statusCode()).isEqualTo(400);
      assertThat(refused.body()).contains("cannot be stored as");
    }
    assertThat(restore("copy%2F_users", users).statusCode()).isEqualTo(201);
    assertThat(restore("_users", users).statusCode()).isEqualTo(201);
    assertThat(restore("_replicator", replications).statusCode()).isEqualTo(201);
  }

  @Test
  void an_increment_needs_somebody_who_followed() throws Exception {
    FilledDatabase.fill(server, "db");
    String end = endOf(image("/db/_image"));
    assertNoFollower("/db/_image?since=" + end);
    byte[] whole = image("/db/_image?follower=a");
    assertNoFollower("/db/_image?follower=b&since=" + endOf(whole));
    image("/db/_image?follower=a&since=" + endOf(whole));
    server.delete("/db/_image?follower=a").expect(200);
    server.delete("/db/_image?follower=a").expect(404);
    assertNoFollower("/db/_image?follower=a&since=" + endOf(whole));
    server.get("/db/_image?since=none").expect(400);
    server.get("/db/_image?follower=A%20B").expect(400);
    server.get("/none/_image").expect(404);
    for (int i = 0; i < 16; i++) {
      image("/db/_image?follower=f" + i);
    }
    server.get("/db/_image?follower=f16").expect(400);
    image("/db/_image?follower=f0");
  }

  private void assertNoFollower(String target) {
    Answer refused = server.get(target).expect(412);
    assertThat(refused.body()).contains("\"no_follower\"");
  }

  @Test
  void what_is_no_whole_image_leaves_nothing() throws Exception {
    FilledDatabase.fill(server, "db");
    byte[] whole = image("/db/_image?follower=a");
    server.write("/db/e", "{}");
    byte[] next = image("/db/_image?follower=a&since=" + endOf(whole));
    byte[] damaged = whole.clone();
    damaged[whole.length / 2] ^= 1;
    List<byte[]> refused =
        List.of(
            damaged,
            new byte[0],
            "foreign".getBytes(StandardCharsets.US_ASCII),
            Arrays.copyOf(whole, whole.length - 1),
            next,
            join(whole, whole));
    for (byte[] image : refused) {
      HttpResponse<String> answer = restore("copy", image);
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
      assertThat(answer.body()).contains("\"bad_image\"");
      server.get("/copy").expect(404);
      SoundStore.assertSound(store);
    }
    assertThat(restore("copy", join(whole, next)).statusCode()).isEqualTo(201);
  }

  /** Returns an image whose checksums are right, whatever its frames are. */
  private static byte[] rewritten(byte[] image, UnaryOperator<ImageFrame> changed) {
    ImageWriter writer = new ImageWriter();
    JsonBuffer out = new JsonBuffer(image.length);
    ImageParser parser =
        new ImageParser(
            frame -> {
              if (frame instanceof Header header) {
                writer.begin(header, out);
              } else if (frame instanceof End end) {
                writer.end(end.sequence(), out);
              } else {
                writer.append(changed.apply(frame), out);
              }
            });
    parser.take(image, 0, image.length);
    return out.toBytes();
  }

  private static ImageFrame.Rows damaged(ImageFrame.Rows frame, DatabaseSubspace part) {
    byte[] prefix = part.key(new byte[0]).toBytes();
    List<KeyValue> rows =
        frame.rows().stream()
            .map(
                row ->
                    TupleReader.isAtOrBelow(prefix, row.getKey())
                        ? new KeyValue(row.getKey(), new byte[] {0})
                        : row)
            .toList();
    assertThat(rows).isNotEqualTo(frame.rows());
    return frame instanceof Purges
        ? new Purges(rows)
        : frame instanceof Settings ? new Settings(rows) : new Departures(rows);
  }

  /** Rows of no stored feed. */
  private static final Departures OF_NONE =
      new Departures(
          List.of(
              new KeyValue(
                  DatabaseSubspace.DERIVED_ROWS.key(new byte[0]).integer(1 << 20).toBytes(),
                  new byte[] {0})));

  /** Its checksums say that it came as it was made, and not who made it. */
  @Test
  void an_image_with_rows_that_nobody_could_read_is_refused() throws Exception {
    server.put("/db").expect(201);
    String rev = server.write("/db/a", "{\"n\":1}");
    server.post("/db/_purge", "{\"a\":[\"" + rev + "\"]}").expect(201);
    String first = server.write("/db/b", "{\"n\":1}");
    server.put("/db/_feeds/gone", "{\"selector\":{\"n\":2}}").expect(201);
    server.delete("/db/_feeds/gone").expect(200);
    server.put("/db/_feeds/left", "{\"selector\":{\"n\":1}}").expect(201);
    server.write("/db/b", "{\"n\":2,\"_rev\":\"" + first + "\"}");
    server.put("/db/_design/v", "{\"views\":{\"n\":{\"map\":\"doc => emit(doc.n)\"}}}").expect(201);
    server.get("/db/_design/v/_view/n").expect(200);
    byte[] whole = image("/db/_image");
    List<UnaryOperator<ImageFrame>> changes =
        List.of(
            it -> it instanceof Purges rows ? damaged(rows, DatabaseSubspace.PURGES) : it,
            it -> it instanceof Settings rows ? damaged(rows, DatabaseSubspace.VIEWS) : it,
            it -> it instanceof Settings rows ? damaged(rows, DatabaseSubspace.NUMBERS) : it,
            it -> it instanceof Departures rows ? damaged(rows, DatabaseSubspace.DERIVED_ROWS) : it,
            it -> it instanceof Departures ? OF_NONE : it,
            it -> it instanceof Departures rows ? ofTooLongKey(rows) : it,
            it -> it instanceof Settings rows ? tooLarge(rows) : it,
            it -> it instanceof DocumentLeaf leaf ? withoutBody(leaf) : it,
            it -> it instanceof Document document ? later(document) : it);
    for (UnaryOperator<ImageFrame> change : changes) {
      HttpResponse<String> answer = restore("copy", rewritten(whole, change));
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
      assertThat(answer.body()).contains("\"bad_image\"");
      server.get("/copy").expect(404);
    }
    assertThat(restore("copy", rewritten(whole, UnaryOperator.identity())).statusCode())
        .isEqualTo(201);
  }

  @Test
  void an_image_with_an_id_that_no_document_may_have_is_refused() throws Exception {
    server.put("/db").expect(201);
    server.write("/db/a", "{}");
    byte[] whole = image("/db/_image");
    for (String id : List.of("", "_a", "x".repeat(513), "x".repeat(20_000))) {
      HttpResponse<String> answer = restore("copy", rewritten(whole, it -> named(it, id)));
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
      assertThat(answer.body()).contains("\"illegal_docid\"");
      server.get("/copy").expect(404);
    }
    String longest = "x".repeat(512);
    assertThat(restore("copy", rewritten(whole, it -> named(it, longest))).statusCode())
        .isEqualTo(201);
    server.get("/copy/" + longest).expect(200);
  }

  private static ImageFrame named(ImageFrame frame, String id) {
    return frame instanceof Document it
        ? new Document(id, it.sequence(), it.leaves(), it.hasDepartures())
        : frame;
  }

  /** The row of the document, in a channel whose name is longer than a key may be. */
  private static Departures ofTooLongKey(Departures frame) {
    KeyValue row = frame.rows().get(0);
    byte[] emptyChannel = new TupleWriter(2).string("").toBytes();
    byte[] before = Arrays.copyOf(row.getKey(), row.getKey().length - emptyChannel.length);
    assertThat(new TupleWriter(before).string("").toBytes()).isEqualTo(row.getKey());
    byte[] key = new TupleWriter(before).string("c".repeat(10_000)).toBytes();
    return new Departures(List.of(new KeyValue(key, row.getValue())));
  }

  /** A row of the configuration whose key is longer than one may be. */
  private static Settings tooLarge(Settings frame) {
    List<KeyValue> rows = new ArrayList<>(frame.rows());
    byte[] prefix = DatabaseSubspace.CONFIG.key(new byte[0]).toBytes();
    KeyValue one =
        rows.stream()
            .filter(it -> TupleReader.isAtOrBelow(prefix, it.getKey()))
            .findFirst()
            .orElseThrow();
    byte[] key = Arrays.copyOf(one.getKey(), 10_001);
    rows.add(new KeyValue(key, one.getValue()));
    return new Settings(rows);
  }

  private static DocumentLeaf withoutBody(DocumentLeaf leaf) {
    Body none = new Body(0, new byte[0]);
    return new DocumentLeaf(leaf.revision(), false, leaf.ancestors(), leaf.attachments(), none);
  }

  /** Behind which nothing that is written into the copy would come. */
  private static Document later(Document document) {
    byte[] stamp = document.sequence().versionstamp();
    Sequence late = new Sequence(9, stamp);
    return new Document(document.id(), late, document.leaves(), document.hasDepartures());
  }

  @Test
  void of_a_stream_whose_client_leaves_nothing_stays() throws Exception {
    server.put("/db").expect(201);
    byte[] bytes = new byte[8_000_000];
    new Random(1).nextBytes(bytes);
    server.request("PUT", "/db/d/a", "Content-Type", "image/png").body(bytes).send().expect(201);
    TestDatabase db = TestDatabase.open(store, "db");
    try (Connection left = server.request("GET", "/db/_image").open()) {
      left.readHead().expect(200);
      assertThat(images(db)).hasSize(1);
      assertThat(server.get("/_active_tasks").body()).contains("\"type\":\"backup\"");
    }
    Await.until("the follower is gone", () -> images(db).isEmpty());
    Await.until(
        "the task is over",
        () -> !server.get("/_active_tasks").body().contains(json("'type':'backup'")));
    assertThat(restore("copy", image("/db/_image")).statusCode()).isEqualTo(201);
    assertThat(
            send(server, "GET", "/copy/d/a", BodyPublishers.noBody(), BodyHandlers.ofByteArray())
                .body())
        .isEqualTo(bytes);
  }

  private static List<Image> images(TestDatabase db) {
    return db.read((tx, handle) -> new GoneSubspace(handle).images(tx));
  }

  private static byte[] saved(String name) throws IOException {
    try (InputStream file = ImageResourceTest.class.getResourceAsStream("/images/" + name)) {
      return file.readAllBytes();
    }
  }

  @Test
  void a_saved_image_is_restored_with_all_it_had() throws IOException {
    try (LectusServer server = LectusServer.start(store)) {
      Answer restored = server.request("POST", "/old/_image").body(saved("first.image")).send();
      assertThat(restored.status()).as(restored.body()).isEqualTo(201);
      List<String> answers =
          new String(saved("first.answers"), StandardCharsets.UTF_8).lines().toList();
      for (String line : answers) {
        String[] parts = line.split(" ", 2);
        Answer answer =
            server.request("GET", "/old" + parts[0], "Accept", "application/json").send();
        assertThat(answer.status()).as(parts[0]).isEqualTo(200);
        assertThat(answer.body().replaceAll("[\r\n]", "")).as(parts[0]).isEqualTo(parts[1]);
      }
    }
  }
}
