package lectus.clients.replicator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import lectus.audit.testing.SoundStore;
import lectus.clients.replicator.RemoteDatabase.ChangesQuery;
import lectus.clients.replicator.ReplicatedDocument.Leaves;
import lectus.clients.replicator.Replication.ReplicationStatistics.Count;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Attachments on their way through CouchDB's replicator, which {@link Replication} models. */
final class AttachedReplicationTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  @AutoClose private final LectusServer there = LectusServer.start(stores.fresh());
  @AutoClose private final LectusServer here = LectusServer.start(stores.fresh());

  @BeforeEach
  void attachments_of_all_kinds() throws IOException {
    there.put("/source");
    put(
        "a/text",
        "text/plain",
        "identity",
        "hallo ".repeat(1_000).getBytes(StandardCharsets.UTF_8));
    put("a/%22quoted%22", "image/x", "identity", random(10));
    put("a/path/b%C3%BC", "image/x", "identity", random(200_000));
    put("a/empty", "text/plain", "identity", new byte[0]);
    put("zipped/f", "image/x", "gzip", Request.gzip(random(5_000)));
    put(
        "_design/d/index.html",
        "text/html",
        "identity",
        "<html/>".getBytes(StandardCharsets.UTF_8));
    there.write("/source/none", "{}");
  }

  private static byte[] random(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private String rev(LectusServer server, String document) {
    return server.get(document).status() == 200 ? server.get(document).member("_rev") : "";
  }

  private void put(String path, String type, String encoding, byte[] bytes) {
    String document = "/source/" + path.replaceAll("^((_design/)?[^/]+)/.*", "$1");
    String rev = rev(there, document);
    there
        .request(
            "PUT",
            "/source/" + path + (rev.isEmpty() ? "" : "?rev=" + rev),
            "Content-Type",
            type,
            "Content-Encoding",
            encoding)
        .body(bytes)
        .send()
        .expect(201);
  }

  private RemoteDatabase source() {
    return RemoteDatabase.at(there.url() + "/source");
  }

  private RemoteDatabase target() {
    return RemoteDatabase.at(here.url() + "/target");
  }

  private void pull() {
    run(source(), target());
  }

  private void push() {
    run(target(), source());
  }

  private static void run(RemoteDatabase from, RemoteDatabase to) {
    Replication replication = Replication.start(from, to, ChangesQuery.once());
    replication.run();
    assertThat(replication.refused()).isEmpty();
    assertThat(replication.count(Count.DOC_WRITE_FAILURES)).isZero();
  }

  private void assertEqualLeaves() {
    assertThat(Leaves.withAttachments(here, "target"))
        .isEqualTo(Leaves.withAttachments(there, "source"));
  }

  @Test
  void they_arrive_byte_for_byte_as_they_are_stored() throws IOException {
    pull();

    assertEqualLeaves();
    here.get("/target/a/text").expect("hallo ".repeat(1_000));
    assertThat(here.get("/target/a?att_encoding_info=true").body())
        .contains("\"encoding\":\"gzip\",\"encoded_length\":");
    assertThat(here.get("/target/zipped?att_encoding_info=true").body())
        .contains("\"encoding\":\"gzip\"");
    here.get("/target/_design/d/index.html").expect("<html/>");
  }

  @Test
  void only_what_is_new_is_sent_again() {
    pull();
    put("a/more", "text/plain", "identity", "more".getBytes(StandardCharsets.UTF_8));
    put("a/%22quoted%22", "image/x", "identity", random(11));
    String first = rev(there, "/source/zipped");
    there.write(
        "/source/zipped", "{\"_rev\":\"" + first + "\",\"_attachments\":{\"f\":{\"stub\":true}}}");
    ReplicatedDocument changed =
        source()
            .openRevisions(
                new RemoteDatabase.Wanted(
                    "a", rev(there, "/source/a"), List.of(rev(here, "/target/a"))))
            .get(0);
    assertThat(changed.parts()).hasSize(2);

    pull();

    assertEqualLeaves();
    here.get("/target/a/more").expect("more");
  }

  @Test
  void conflicts_keep_their_own_attachments_both_ways() {
    pull();
    String rev = rev(there, "/source/a");
    String edit =
        "{\"_rev\":\"%s\",\"side\":\"%s\",\"_attachments\":{\"text\":{\"stub\":true},\"side\":{\"data\":\"%s\"}}}";
    there.write("/source/a", edit.formatted(rev, "there", base64("there")));
    here.write("/target/a", edit.formatted(rev, "here", base64("here")));
    put("b/x", "text/plain", "identity", "of there".getBytes(StandardCharsets.UTF_8));
    here.request("PUT", "/target/b/x", "Content-Type", "text/plain")
        .body("of here".getBytes(StandardCharsets.UTF_8))
        .send()
        .expect(201);

    push();
    pull();

    assertEqualLeaves();
    for (String id : new String[] {"a", "b"}) {
      assertThat(here.get("/target/" + id + "?conflicts=true").body()).contains("_conflicts");
    }
    String both = here.get("/target/a?open_revs=all").body();
    assertThat(both).contains("\r\n\r\nthere\r\n--", "\r\n\r\nhere\r\n--");
  }

  @Test
  void tombstones_with_attachments_and_documents_without_any_more_arrive() {
    pull();
    String rev = rev(there, "/source/a");
    there.write(
        "/source/a",
        "{\"_rev\":\"" + rev + "\",\"_deleted\":true,\"_attachments\":{\"text\":{\"stub\":true}}}");
    there.write("/source/zipped", "{\"_rev\":\"" + rev(there, "/source/zipped") + "\"}");

    pull();

    assertEqualLeaves();
    assertThat(here.get("/target/zipped").body()).doesNotContain("_attachments");
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}
