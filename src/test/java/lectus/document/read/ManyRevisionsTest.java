package lectus.document.read;

import static lectus.document.testing.Answers.whole;
import static lectus.document.testing.TestDatabase.utf8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseRequest;
import lectus.database.DatabaseRequest.DatabaseAccess;
import lectus.document.AttachmentsShown;
import lectus.document.PagedBody;
import lectus.document.read.OpenRevisions.OpenRevisionsJson;
import lectus.document.testing.TestDatabase;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.store.testing.TestStores;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code open_revs}, {@code _bulk_get}, {@code _revs_diff} and {@code _missing_revs}. */
class ManyRevisionsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final TestDatabase db = TestDatabase.create(stores.fresh());
  private final DocumentReader reader =
      new DocumentReader(db.catalogue, db.transactions, new DocumentCache(1 << 20));
  private final BulkGet bulkGet = new BulkGet(db.catalogue, db.transactions);
  private final RevisionsDiff diff = new RevisionsDiff(db.catalogue, db.transactions);

  /** More than are read in one transaction. */
  private static final String MANY =
      IntStream.range(0, 1_300)
          .mapToObj("\"%d\":[\"1-a\"]"::formatted)
          .collect(Collectors.joining(",", "{", "}"));

  private final AtomicInteger judged = new AtomicInteger();
  private final AtomicInteger checked = new AtomicInteger();

  /** Three leaves: 4-b wins, 3-a lost, 9-t is deleted; 2-a is an ancestor of 3-a. */
  private void threeLeaves(String id) {
    db.replicate(id, "{\"v\":1}", "3-a", "2-a", "1-x");
    db.replicate(id, "{\"v\":2}", "4-b", "3-b", "2-b", "1-x");
    db.replicate(id, "{\"_deleted\":true}", "9-t", "8-t");
  }

  private static String ok(String id, String revision, String rest) {
    return "{\"ok\":{\"_id\":\"%s\",\"_rev\":\"%s\"%s}}".formatted(id, revision, rest);
  }

  @Test
  void open_revs_all_lists_leaves_by_ascending_revision() {
    threeLeaves("a");

    assertThat(openRevs("a", "all", false))
        .isEqualTo(
            "["
                + ok("a", "3-a", ",\"v\":1")
                + ","
                + ok("a", "4-b", ",\"v\":2")
                + ","
                + ok("a", "9-t", ",\"_deleted\":true")
                + "]\n");
  }

  @Test
  void open_revs_all_of_a_document_never_written_is_missing() {
    assertError(new LectusError.NotFound("missing"), () -> openRevs("a", "all", false));
  }

  @Test
  void open_revs_names_what_is_no_leaf() {
    threeLeaves("a");

    assertThat(openRevs("a", "[\"9-abc\",\"2-a\",\"4-b\",\"9-abc\"]", false))
        .isEqualTo(
            "[" + ok("a", "4-b", ",\"v\":2") + ",{\"missing\":\"2-a\"},{\"missing\":\"9-abc\"}]\n");
    assertThat(openRevs("none", "[\"1-x\",\"2-y\"]", false))
        .isEqualTo("[{\"missing\":\"1-x\"},{\"missing\":\"2-y\"}]\n");
  }

  @Test
  void open_revs_with_latest_gives_the_leaves_below() {
    threeLeaves("a");

    assertThat(openRevs("a", "[\"1-x\",\"3-a\",\"7-q\"]", true))
        .isEqualTo(
            "["
                + ok("a", "3-a", ",\"v\":1")
                + ","
                + ok("a", "4-b", ",\"v\":2")
                + ",{\"missing\":\"7-q\"}]\n");
  }

  @Test
  void open_revs_parameter() {
    assertThat(OpenRevisions.parse("[]", false, false, AttachmentsShown.STUBS)).isEmpty();
    assertError(
        new LectusError.BadRequest("bad_request", "Invalid rev format"),
        () -> OpenRevisions.parse("[\"x\"]", false, false, AttachmentsShown.STUBS));
    assertThatThrownBy(() -> OpenRevisions.parse("{}", false, false, AttachmentsShown.STUBS))
        .isInstanceOf(LectusException.class);
    assertThatThrownBy(() -> OpenRevisions.parse("1-x", false, false, AttachmentsShown.STUBS))
        .isInstanceOf(LectusException.class);
  }

  @Test
  void open_revs_of_more_leaves_than_are_read_at_once() {
    for (int i = 0; i < 40; i++) {
      db.replicate("a", "{\"v\":" + i + "}", "1-" + (char) ('A' + i));
    }

    assertThat(openRevs("a", "all", false))
        .isEqualTo(
            IntStream.range(0, 40)
                .mapToObj(i -> ok("a", "1-" + json((char) ('A' + i)), ",\"v\":" + i))
                .collect(Collectors.joining(",", "[", "]\n")));
  }

  private static String json(char c) {
    return c == '\\' ? "\\\\" : String.valueOf(c);
  }

  @Test
  void bulk_get_lists_leaves_winner_first_and_what_is_missing() {
    threeLeaves("a");

    assertThat(
            bulkGet(
                "{\"docs\":[{\"id\":\"a\"},{\"id\":\"a\",\"rev\":\"3-a\"},"
                    + "{\"id\":\"a\",\"rev\":\"9-abc\"},{\"id\":\"none\"}]}",
                false,
                false))
        .isEqualTo(
            "{\"results\":["
                + "{\"id\":\"a\",\"docs\":["
                + ok("a", "4-b", ",\"v\":2")
                + ","
                + ok("a", "3-a", ",\"v\":1")
                + ","
                + ok("a", "9-t", ",\"_deleted\":true")
                + "]},{\"id\":\"a\",\"docs\":["
                + ok("a", "3-a", ",\"v\":1")
                + "]},{\"id\":\"a\",\"docs\":[{\"error\":{\"rev\":\"9-abc\",\"reason\":\"missing\","
                + "\"id\":\"a\",\"error\":\"not_found\"}}]},"
                + "{\"id\":\"none\",\"docs\":[{\"error\":{\"rev\":\"undefined\","
                + "\"reason\":\"missing\",\"id\":\"none\",\"error\":\"not_found\"}}]}]}\n");
  }

  @Test
  void bulk_get_with_latest_and_revs() {
    threeLeaves("a");

    assertThat(bulkGet("{\"docs\":[{\"id\":\"a\",\"rev\":\"2-a\"}]}", true, true))
        .isEqualTo(
            "{\"results\":[{\"id\":\"a\",\"docs\":["
                + ok(
                    "a", "3-a", ",\"v\":1,\"_revisions\":{\"start\":3,\"ids\":[\"a\",\"a\",\"x\"]}")
                + "]}]}\n");
  }

  @Test
  void bulk_get_answers_bad_requests_one_by_one() {
    assertThat(
            bulkGet(
                "{\"docs\":[{\"id\":\"a\",\"rev\":\"x\"},{\"id\":\"_x\"},{\"rev\":\"1-x\"},5,{}]}",
                false,
                false))
        .isEqualTo(
            "{\"results\":[{\"id\":\"a\",\"docs\":[{\"error\":{\"rev\":\"x\",\"reason\":\"Invalid"
                + " rev format\",\"id\":\"a\",\"error\":\"bad_request\"}}]},"
                + "{\"id\":\"_x\",\"docs\":[{\"error\":{\"rev\":null,\"reason\":\"Only reserved"
                + " document ids may start with underscore.\","
                + "\"id\":\"_x\",\"error\":\"illegal_docid\"}}]},"
                + "{\"id\":null,\"docs\":[{\"error\":{\"rev\":null,\"reason\":\"document id"
                + " missed\",\"id\":null,\"error\":\"bad_request\"}}]}"
                + noObject()
                + noObject()
                + "]}\n");
  }

  private static String noObject() {
    return ",{\"id\":null,\"docs\":[{\"error\":{\"rev\":null,"
        + "\"reason\":\"document must be a JSON object\",\"id\":null,\"error\":\"bad_request\"}}]}";
  }

  @Test
  void bulk_get_of_nothing_and_of_no_list() {
    assertThat(bulkGet("{\"docs\":[]}", false, false)).isEqualTo("{\"results\":[]}\n");
    assertError(
        new LectusError.BadRequest("bad_request", "Missing JSON list of 'docs'."),
        () -> bulkGet("{}", false, false));
    assertError(
        new LectusError.BadRequest("bad_request", "Request body must be a JSON object"),
        () -> bulkGet("[]", false, false));
  }

  @Test
  void bulk_get_of_many_large_documents_comes_in_parts() {
    String long1 = "x".repeat(90_000);
    for (int i = 0; i < 10; i++) {
      db.put("d" + i, "{\"v\":\"" + long1 + i + "\"}");
    }
    PagedBody body =
        bulkGet.answer(
            DatabaseRequest.byServer(db.name),
            utf8(
                IntStream.range(0, 100)
                    .mapToObj(i -> "{\"id\":\"d" + i % 10 + "\"}")
                    .collect(Collectors.joining(",", "{\"docs\":[", "]}"))),
            false,
            false,
            AttachmentsShown.STUBS,
            new BulkGetJson());

    int parts = 1;
    JsonBuffer out = new JsonBuffer(64);
    while (body.appendNext(out)) {
      parts++;
    }

    assertThat(parts).isGreaterThan(3);
    assertThat(out.toString().split("\\{\"id\":\"d", -1)).hasSize(101);
    for (int i = 0; i < 10; i++) {
      assertThat(out.toString().split("x" + i + "\"", -1)).hasSize(11);
    }
  }

  @Test
  void revs_diff_names_missing_revisions_and_lower_leaves() {
    threeLeaves("a");
    db.put("b", "{}");

    assertThat(
            revsDiff(
                "{\"none\":[\"1-x\"],\"a\":[\"4-new\",\"2-a\",\"4-b\",\"4-new\"],"
                    + "\"b\":[\""
                    + db.winner("b").leaf()
                    + "\"]}"))
        .isEqualTo(
            "{\"none\":{\"missing\":[\"1-x\"]},"
                + "\"a\":{\"missing\":[\"4-new\"],\"possible_ancestors\":[\"3-a\"]}}");
    assertThat(revsDiff("{\"a\":[\"10-n\"]}"))
        .isEqualTo(
            "{\"a\":{\"missing\":[\"10-n\"],\"possible_ancestors\":[\"9-t\",\"4-b\",\"3-a\"]}}");
    assertThat(revsDiff("{}")).isEqualTo("{}");
    assertThat(revsDiff("{\"a\":[]}")).isEqualTo("{}");
  }

  @Test
  void missing_revs() {
    threeLeaves("a");

    JsonBuffer out = new JsonBuffer(64);
    diff.missingRevs(
        DatabaseRequest.byServer(db.name),
        utf8("{\"a\":[\"4-new\",\"4-b\"],\"b\":[\"1-q\"]}"),
        out);
    assertThat(out.toString()).isEqualTo("{\"missing_revs\":{\"a\":[\"4-new\"],\"b\":[\"1-q\"]}}");

    out.truncate(0);
    diff.missingRevs(DatabaseRequest.byServer(db.name), utf8("{}"), out);
    assertThat(out.toString()).isEqualTo("{\"missing_revs\":{}}");
  }

  @Test
  void revs_diff_of_more_documents_than_are_read_at_once() {
    db.put("d500", "{}");
    String known = db.winner("d500").leaf().toString();
    String body =
        IntStream.range(0, 1_000)
            .mapToObj(i -> "\"d" + i + "\":[\"" + known + "\"]")
            .collect(Collectors.joining(",", "{", "}"));

    assertThat(revsDiff(body))
        .isEqualTo(
            IntStream.range(0, 1_000)
                .filter(i -> i != 500)
                .mapToObj(i -> "\"d" + i + "\":{\"missing\":[\"" + known + "\"]}")
                .collect(Collectors.joining(",", "{", "}")));
  }

  @Test
  void revs_diff_of_malformed_bodies() {
    assertError(
        new LectusError.BadRequest("bad_request", "Invalid rev format"),
        () -> revsDiff("{\"a\":[\"x\"]}"));
    assertError(
        new LectusError.BadRequest("bad_request", "Invalid rev format"),
        () -> revsDiff("{\"a\":[1]}"));
    assertThatThrownBy(() -> revsDiff("{\"a\":\"1-x\"}")).isInstanceOf(LectusException.class);
    assertThatThrownBy(() -> revsDiff("[]")).isInstanceOf(LectusException.class);
    assertThatThrownBy(() -> revsDiff("{")).isInstanceOf(LectusException.class);
  }

  @Test
  void database_that_does_not_exist() {
    db.catalogue.delete(db.name);
    LectusError gone = new LectusError.NotFound("Database does not exist.");

    assertError(gone, () -> revsDiff("{}"));
    assertError(gone, () -> bulkGet("{\"docs\":[]}", false, false));
    assertError(gone, () -> openRevs("a", "all", false));
  }

  private String openRevs(String id, String parameter, boolean latest) {
    return whole(
        reader.openRevisions(
            DatabaseRequest.byServer(db.name),
            id,
            OpenRevisions.parse(parameter, latest, false, AttachmentsShown.STUBS).orElseThrow(),
            new OpenRevisionsJson()));
  }

  private String bulkGet(String body, boolean revs, boolean latest) {
    return whole(
        bulkGet.answer(
            DatabaseRequest.byServer(db.name),
            utf8(body),
            revs,
            latest,
            AttachmentsShown.STUBS,
            new BulkGetJson()));
  }

  private String revsDiff(String body) {
    JsonBuffer out = new JsonBuffer(64);
    diff.revsDiff(DatabaseRequest.byServer(db.name), utf8(body), out);
    return out.toString();
  }

  private static void assertError(LectusError error, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(LectusException.class, e -> assertThat(e.error()).isEqualTo(error));
  }

  /** Whoever asks is let in for so many transactions. */
  private DatabaseAccess permit(int transactions, int checks) {
    return new DatabaseAccess() {
      @Override
      public void judge(DatabaseHandle db) {
        if (judged.incrementAndGet() > transactions) {
          throw LectusException.forbidden("no member");
        }
      }

      @Override
      public void checkAdmission() {
        if (checked.incrementAndGet() > checks) {
          throw LectusException.unauthorized("another account");
        }
      }
    };
  }

  private void ask(DatabaseAccess permit) {
    diff.revsDiff(new DatabaseRequest(db.name, permit), utf8(MANY), new JsonBuffer(64));
  }

  @Test
  void revs_diff_fails_when_the_right_is_gone_before_its_last_transaction() {
    assertThatThrownBy(() -> ask(permit(2, 2)))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("no member");
  }

  @Test
  void revs_diff_fails_when_the_account_is_another_before_its_last_transaction() {
    assertThatThrownBy(() -> ask(permit(3, 1)))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("another account");
  }

  @Test
  void revs_diff_asks_once_for_each_transaction() {
    ask(permit(3, 2));
    assertThat(judged).hasValue(3);
    assertThat(checked).hasValue(2);
  }
}
