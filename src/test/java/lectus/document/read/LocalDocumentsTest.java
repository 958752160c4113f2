package lectus.document.read;

import static lectus.document.testing.Answers.whole;
import static lectus.document.testing.TestDatabase.utf8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseRequest;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.DocumentParser.DocumentLimits;
import lectus.document.edit.NamedRevisions;
import lectus.document.read.AllDocsQuery.Listing;
import lectus.document.testing.TestDatabase;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.store.testing.TestStores;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Local documents, and their list. */
class LocalDocumentsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final TestDatabase db = TestDatabase.create(stores.fresh());
  private final LocalDocuments documents = new LocalDocuments(db.catalogue, db.transactions);
  private final DocumentParser parser = new DocumentParser(DocumentLimits.DEFAULT);
  private final AllDocs lists = new AllDocs(db.catalogue, db.transactions);

  @Test
  void revision_is_the_given_one_and_one_more() {
    assertThat(write("_local/ck", "{\"seq\":1}")).isEqualTo("0-1");
    assertThat(write("_local/ck", "{\"_rev\":\"0-1\",\"seq\":2}")).isEqualTo("0-2");
    assertThat(write("_local/ck", beside("0-7"), "{}")).isEqualTo("0-8");
    assertThat(write("_local/ck", "{\"seq\":3}")).isEqualTo("0-1");
  }

  @Test
  void read_gives_id_revision_and_the_last_body() {
    write("_local/ck", "{\"seq\":1,\"gone\":[1,2]}");
    write("_local/ck", "{\"_id\":\"ignored\",\"_rev\":\"0-1\",\"seq\":2}");

    assertThat(read("_local/ck")).isEqualTo("{\"_id\":\"_local/ck\",\"_rev\":\"0-2\",\"seq\":2}");
  }

  @Test
  void deletion_by_delete_and_by_member() {
    write("_local/a", "{\"v\":1}");
    write("_local/b", "{\"v\":1}");

    assertThat(documents.delete(db.name, "_local/a")).isEqualTo("0-0");
    assertThat(write("_local/b", "{\"_deleted\":true}")).isEqualTo("0-0");

    assertError(new LectusError.NotFound("missing"), () -> read("_local/a"));
    assertError(new LectusError.NotFound("missing"), () -> read("_local/b"));
    assertError(new LectusError.NotFound("missing"), () -> documents.delete(db.name, "_local/a"));
    assertThat(list(Map.of())).isEqualTo(empty());
  }

  @Test
  void removal_of_what_is_not_there_changes_nothing() {
    assertThat(write("_local/a", "{\"_deleted\":true,\"_rev\":\"0-4\"}")).isEqualTo("0-0");
    assertThat(list(Map.of())).isEqualTo(empty());
  }

  @Test
  void writes_of_one_document_keep_their_order_among_others() {
    db.write(
        List.of(
            parser.local("_local/a", NamedRevisions.NONE, utf8("{\"v\":1,\"gone\":true}")),
            TestDatabase.edit("a", null, "{}"),
            parser.local("_local/a", beside("0-1"), utf8("{\"v\":2}"))));

    assertThat(read("_local/a")).isEqualTo("{\"_id\":\"_local/a\",\"_rev\":\"0-2\",\"v\":2}");
    assertThat(db.changes()).hasSize(1);
    db.audit(1);
  }

  @Test
  void a_batch_of_local_documents_alone_has_no_sequence() {
    WriteResult result =
        db.writer.write(
            db.name, List.of(parser.local("_local/a", NamedRevisions.NONE, utf8("{}"))));

    assertThat(result.last()).isEmpty();
  }

  @Test
  void local_documents_do_not_show_elsewhere() {
    write("_local/a", "{\"v\":1}");

    assertThat(db.changes()).isEmpty();
    assertThat(db.statistics().documents()).isZero();
    assertThat(
            whole(
                lists.answer(
                    DatabaseRequest.byServer(db.name),
                    AllDocsQuery.parse(Listing.ALL, Map.of(), null))))
        .isEqualTo("{\"total_rows\":0,\"offset\":0,\"rows\":[\r\n\r\n]}\n");
  }

  @Test
  void list_has_no_total_and_can_bring_bodies() {
    write("_local/b", "{\"v\":1}");
    write("_local/a", "{}");
    write("_local/a", "{\"_rev\":\"0-1\",\"v\":[2]}");

    assertThat(list(Map.of()))
        .isEqualTo(
            "{\"total_rows\":null,\"offset\":null,\"rows\":[\r\n"
                + "{\"id\":\"_local/a\",\"key\":\"_local/a\",\"value\":{\"rev\":\"0-2\"}},\r\n"
                + "{\"id\":\"_local/b\",\"key\":\"_local/b\",\"value\":{\"rev\":\"0-1\"}}"
                + "\r\n]}\n");
    assertThat(list(Map.of("include_docs", "true", "descending", "true", "limit", "1")))
        .isEqualTo(
            "{\"total_rows\":null,\"offset\":null,\"rows\":[\r\n"
                + "{\"id\":\"_local/b\",\"key\":\"_local/b\",\"value\":{\"rev\":\"0-1\"},"
                + "\"doc\":{\"_id\":\"_local/b\",\"_rev\":\"0-1\",\"v\":1}}\r\n]}\n");
    assertThat(list(Map.of("keys", "[\"_local/a\",\"_local/x\"]", "include_docs", "true")))
        .isEqualTo(
            "{\"total_rows\":null,\"offset\":null,\"rows\":[\r\n"
                + "{\"id\":\"_local/a\",\"key\":\"_local/a\",\"value\":{\"rev\":\"0-2\"},"
                + "\"doc\":{\"_id\":\"_local/a\",\"_rev\":\"0-2\",\"v\":[2]}},\r\n"
                + "{\"key\":\"_local/x\",\"error\":\"not_found\"}\r\n]}\n");
  }

  @Test
  void malformed_documents_are_refused() {
    assertError(
        new LectusError.BadRequest("bad_request", "Invalid rev format"),
        () -> write("_local/a", "{\"_rev\":\"1-abc\"}"));
    assertError(
        new LectusError.BadRequest("bad_request", "Invalid rev format"),
        () -> write("_local/a", "{\"_rev\":5}"));
    assertError(
        new LectusError.BadRequest("doc_validation", "Bad special document member: _x"),
        () -> write("_local/a", "{\"_x\":1}"));
    assertError(
        new LectusError.BadRequest("bad_request", "Document must be a JSON object"),
        () -> write("_local/a", "[]"));
    assertThatThrownBy(() -> write("_local/a", "{\"_attachments\":{\"f\":{}}}"))
        .isInstanceOfSatisfying(
            LectusException.class,
            e -> assertThat(e.error()).isInstanceOf(LectusError.BadRequest.class));
    assertThatThrownBy(() -> write("_local/" + "x".repeat(506), "{}"))
        .isInstanceOf(LectusException.class);
    assertThat(list(Map.of())).isEqualTo(empty());

    assertThat(write("_local/" + "x".repeat(505), "{\"_attachments\":{}}")).isEqualTo("0-1");
  }

  @Test
  void limits_are_those_of_documents() {
    String fits = "{\"v\":\"" + "y".repeat(8_000_000 - 8) + "\"}";
    assertThat(write("_local/a", fits)).isEqualTo("0-1");
    assertThat(read("_local/a"))
        .isEqualTo(fits.replace("{", "{\"_id\":\"_local/a\",\"_rev\":\"0-1\","));

    assertThatThrownBy(() -> write("_local/a", fits.replace("\"}", "y\"}")))
        .isInstanceOfSatisfying(
            LectusException.class,
            e -> assertThat(e.error()).isInstanceOf(LectusError.TooLarge.class));
  }

  private static String empty() {
    return "{\"total_rows\":null,\"offset\":null,\"rows\":[\r\n\r\n]}\n";
  }

  private String write(String id, String json) {
    return write(id, NamedRevisions.NONE, json);
  }

  private String write(String id, NamedRevisions beside, String json) {
    return TestDatabase.written(db.write(parser.local(id, beside, utf8(json)))).toString();
  }

  private static NamedRevisions beside(String rev) {
    return new NamedRevisions(Optional.of(rev), Optional.empty());
  }

  private String read(String id) {
    JsonBuffer out = new JsonBuffer(64);
    documents.read(DatabaseRequest.byServer(db.name), id, out);
    return out.toString();
  }

  private String list(Map<String, String> parameters) {
    return whole(
        lists.answer(
            DatabaseRequest.byServer(db.name),
            AllDocsQuery.parse(Listing.LOCAL, parameters, null)));
  }

  private static void assertError(LectusError error, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(LectusException.class, e -> assertThat(e.error()).isEqualTo(error));
  }
}
