package lectus.http.document;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Random;
import lectus.attachment.Digests;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Attachments whose bytes are not sent, since the database has them under another name. */
class AttachmentsByDigestTest {
  private static final byte[] BYTES = new byte[100_001];

  static {
    new Random(7).nextBytes(BYTES);
  }

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  @AutoClose private final LectusServer server = LectusServer.start(stores.fresh());

  @BeforeEach
  void a_document_with_attachments() {
    server.put("/w");
    put("/w/a/f", "image/x", BYTES);
  }

  private void put(String target, String type, byte[] bytes) {
    Answer answer = server.request("PUT", target, "Content-Type", type).body(bytes).send();
    assertThat(answer.status()).as(answer.body()).isEqualTo(201);
  }

  private static String sha256(byte[] bytes) {
    return Base64.getEncoder().encodeToString(Digests.sha256().digest(bytes));
  }

  private static String stub(byte[] bytes, String more) {
    return "{\"_attachments\":{\"g\":{\"stub\":true,\"content_type\":\"image/y\",\"digest\":\"sha256-%s\",\"length\":%d%s}}}"
        .formatted(sha256(bytes), bytes.length, more);
  }

  @Test
  void a_content_that_is_there_need_not_be_sent() {
    Answer put = server.put("/w/b", stub(BYTES, ""));

    assertThat(put.status()).as(put.body()).isEqualTo(201);
    assertThat(server.get("/w/b/g").header("content-type")).isEqualTo("image/y");
    String shown = server.get("/w/b").body();
    assertThat(shown).contains("\"revpos\":1", "\"length\":100001,\"stub\":true");
    assertThat(server.get("/w/b/g").header("content-md5"))
        .isEqualTo(server.get("/w/a/f").header("content-md5"));
    assertThat(server.head("/w/b/g").header("repr-digest"))
        .isEqualTo("sha-256=:" + sha256(BYTES) + ":");
  }

  @Test
  void it_stays_when_the_document_goes_from_which_it_was_taken() {
    server.put("/w/b", stub(BYTES, ""));
    String rev = server.get("/w/a").member("_rev");
    server.delete("/w/a?rev=" + rev).expect(200);
    server.get("/w/b/g").expect(200);
  }

  @Test
  void replicated_and_bulk_edits_may_name_contents_too() {
    String doc = stub(BYTES, ",\"revpos\":2").replaceFirst("\\{", json("{'_id':'r','_rev':'3-a',"));
    server.post("/w/_bulk_docs", "{\"new_edits\":false,\"docs\":[" + doc + "]}").expect(201);
    assertThat(server.get("/w/r").body()).contains("\"revpos\":2");
    assertThat(server.get("/w/r/g").header("repr-digest")).contains(sha256(BYTES));
  }

  @Test
  void a_compressed_content_is_named_as_it_is_stored() {
    put("/w/t/f", "text/plain", "hallo ".repeat(100).getBytes(StandardCharsets.UTF_8));
    Answer head = server.request("HEAD", "/w/t/f", "Accept-Encoding", "gzip").send();
    String digest = head.header("repr-digest").replaceAll("sha-256=:(.*):", "$1");
    String stub =
        "{\"_attachments\":{\"g\":{\"stub\":true,\"content_type\":\"text/plain\",\"digest\":\"sha256-%s\",\"length\":600,\"encoding\":\"gzip\",\"encoded_length\":%s}}}"
            .formatted(digest, head.header("content-length"));

    server.put("/w/b", stub).expect(201);
    server.get("/w/b/g").expect("hallo ".repeat(100));
    server.put("/w/c", stub.replaceAll(",\"encoded_length\":[0-9]+", "")).expect(400);
  }

  @Test
  void what_is_not_there_is_a_missing_stub() {
    byte[] others = new byte[10];
    server.put("/w/b", stub(others, "")).expect(412);
    String several =
        stub(others, "").replaceFirst("\"g\":(\\{.*?\\})", "\"a\":$1,\"f\":$1,\"g\":$1");
    assertThat(server.put("/w/b", several.replaceFirst(sha256(others), sha256(BYTES))).body())
        .contains("missing_stub", "Invalid attachment stub in b for a", "[\"a\",\"f\",\"g\"]");
    String wrongLength = stub(BYTES, "").replace("100001", "100000");
    server.put("/w/b", wrongLength).expect(412);
    server.put("/w/b", stub(BYTES, "").replace(",\"length\":100001", "")).expect(400);
    server.put("/v");
    assertThat(server.put("/v/b", stub(BYTES, "")).status())
        .as("another database's contents are not this one's")
        .isEqualTo(412);
    server.get("/w/b").expect(404);
  }

  @Test
  void a_client_is_sent_what_it_does_not_have() {
    byte[] others = {1, 2, 3};
    put("/w/a/g?rev=" + server.get("/w/a").member("_rev"), "image/x", others);
    String held = "%5B%22sha256-" + sha256(BYTES).replace("+", "%2B") + "%22%5D";

    String target = "/w/a?attachments=true&atts_held=" + held;
    String shown = server.request("GET", target, "Accept", "application/json").send().body();

    assertThat(shown)
        .contains(json("'digest':'sha256-%s','length':100001,'stub':true").formatted(sha256(BYTES)))
        .contains(json("'data':'AQID'"));
    server.get("/w/a?attachments=true&atts_held=%5B%22md5-x%22%5D").expect(400);
  }

  @Test
  void in_a_database_of_users_nobody_takes_what_others_have() {
    server.put("/_users");
    String user = "{\"type\":\"user\",\"name\":\"%s\",\"roles\":[],\"password\":\"x\",%s";
    String own =
        json("'_attachments':{'f':{'data':'%s'}}}")
            .formatted(Base64.getEncoder().encodeToString(BYTES));
    server.put("/_users/org.couchdb.user:a", user.formatted("a", own)).expect(201);
    String taken = user.formatted("b", stub(BYTES, "").substring(1));
    server.put("/_users/org.couchdb.user:b", taken).expect(412);
  }
}
