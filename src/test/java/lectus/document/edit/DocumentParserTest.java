package lectus.document.edit;

import static java.util.stream.Collectors.joining;
import static lectus.document.testing.TestDatabase.utf8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import lectus.attachment.Md5;
import lectus.document.edit.BulkEdits.BulkMode;
import lectus.document.edit.BulkEdits.RefusedEdit;
import lectus.document.edit.DocumentParser.DocumentLimits;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.ExplodedBody;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.revision.Ancestors;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DocumentParserTest {
  private static final String HASH = "0123456789abcdef0123456789abcdef";

  private final DocumentParser parser = new DocumentParser(DocumentLimits.DEFAULT);

  @Test
  void reserved_members_do_not_reach_the_body() {
    InteractiveEdit edit =
        interactive(
            "{\"_id\":\"other\",\"_rev\":\"2-"
                + HASH
                + "\",\"x\":1,\"_deleted\":true,\"_attachments\":{},\"_revs_info\":[{\"rev\":1}],"
                + "\"_conflicts\":[\"1-a\"],\"_deleted_conflicts\":[],\"_local_seq\":{\"a\":[7]},"
                + "\"y\":{\"_z\":2}}");

    assertThat(edit.id()).isEqualTo("a");
    assertThat(edit.base()).contains(RevisionId.of("2-" + HASH));
    assertThat(edit.deleted()).isTrue();
    assertThat(json(edit.body())).isEqualTo("{\"x\":1,\"y\":{\"_z\":2}}");
  }

  @Test
  void of_duplicate_reserved_members_the_last_one_stands() {
    InteractiveEdit edit =
        interactive(
            "{\"_deleted\":true,\"_rev\":\"1-a\",\"_id\":\"b\",\"_deleted\":false,\"_rev\":\"2-b\"}");

    assertThat(edit.base()).contains(RevisionId.of("2-b"));
    assertThat(edit.deleted()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[]                                   | bad_request    | Document must be a JSON object",
        "7                                    | bad_request    | Document must be a JSON object",
        "{\"_x\":1}                           | doc_validation | Bad special document member: _x",
        "{\"_\":1}                            | doc_validation | Bad special document member: _",
        "{\"_deleted\":\"true\"}              | doc_validation | Bad special document member:"
            + " _deleted",
        "{\"_attachments\":[]}                | doc_validation | Bad special document member:"
            + " _attachments",
        "{\"_revisions\":[]}                  | doc_validation | Bad special document member:"
            + " _revisions",
        "{\"_revisions\":{\"ids\":[]}}        | doc_validation | _revisions.start isn't an"
            + " integer.",
        "{\"_revisions\":{\"start\":\"1\",\"ids\":[]}} | doc_validation | _revisions.start isn't an"
            + " integer.",
        "{\"_revisions\":{\"start\":1.5,\"ids\":[]}} | doc_validation | _revisions.start isn't an"
            + " integer.",
        "{\"_revisions\":{\"start\":1}}       | doc_validation | _revisions.ids isn't a array.",
        "{\"_revisions\":{\"start\":1,\"ids\":5}} | doc_validation | _revisions.ids isn't a array.",
        "{\"_revisions\":{\"start\":1,\"ids\":[5]}} | doc_validation | RevId isn't a string",
        "{\"_revisions\":{\"start\":1,\"ids\":[\"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\"]}}"
            + " | doc_validation | RevId isn't valid",
        "{\"_revisions\":{\"start\":1,\"ids\":[\"b\",\"a\"]}} | doc_validation | _revisions.start"
            + " is less than the number of _revisions.ids.",
        "{\"_rev\":5}                         | bad_request    | Invalid rev format",
        "{\"_rev\":null}                      | bad_request    | Invalid rev format",
        "{\"_rev\":\"\"}                      | bad_request    | Invalid rev format",
        "{\"_rev\":\"1\"}                     | bad_request    | Invalid rev format",
        "{\"_rev\":\"-1-a\"}                  | bad_request    | Invalid rev format",
        "{\"_rev\":\"1-zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\"} | bad_request | Invalid rev format",
        "{\"_rev\":\"x-a\"}                   | bad_request    | Invalid rev format",
        "{\"_id\":5}                          | illegal_docid  | Document id must be a string",
        "{\"_id\":\"\"}                       | illegal_docid  | Document id must not be empty",
        "{\"_id\":\"_x\"}                     | illegal_docid  | Only reserved document ids may"
            + " start with underscore.",
      })
  void malformed_documents(String json, String error, String reason) {
    assertBadRequest(() -> interactive(json), error, reason);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"a\":1", "{\"a\" 1}", "{} {}", "", "{\"a\":1}x"})
  void malformed_json(String json) {
    assertThat(error(() -> interactive(json))).isInstanceOf(LectusError.BadRequest.class);
  }

  @Test
  void attachments_that_cannot_be_are_refused_with_a_sentence() {
    assertThat(error(() -> interactive(attached("a", "{\"data\":\"!Base64$\"}"))).reason())
        .contains("data for a");
    assertThat(error(() -> interactive(attached("a", "{\"data\":\"aGk\"}"))).reason())
        .isEqualTo("Invalid attachment data for a");
    assertThat(interactive(attached("a", "{\"data\":\"a G\\nk=\"}")).attachments().hasInline())
        .isTrue();
    assertThat(error(() -> interactive(attached("a", "{}"))).reason()).contains("data for a");
    assertThat(error(() -> interactive(attached("_a", "{\"stub\":true}"))).reason())
        .contains("prohibited character");
    assertThat(error(() -> interactive(attached("a", "7"))).error()).isEqualTo("doc_validation");
    assertThat(error(() -> interactive("{\"_attachments\":[]}")).error())
        .isEqualTo("doc_validation");
    assertThat(
            error(
                    () ->
                        interactive(
                            "{\"_attachments\":{\"a\":{\"stub\":true},\"a\":{\"stub\":true}}}"))
                .reason())
        .contains("Duplicate attachments");
  }

  @Test
  void names_and_types_of_attachments_have_limits() {
    String name = "n".repeat(AttachmentName.MAX_BYTES);
    String type = "t".repeat(AttachmentName.MAX_TYPE_CHARACTERS);
    String json = "{\"data\":\"\",\"content_type\":\"%s\"}";

    assertThat(interactive(attached(name, json.formatted(type))).attachments().all()).hasSize(1);
    assertThat(error(() -> interactive(attached(name + "n", json.formatted(type)))))
        .isInstanceOf(LectusError.TooLarge.class);
    assertThat(error(() -> interactive(attached(name, json.formatted(type + "t")))))
        .isInstanceOf(LectusError.TooLarge.class);
  }

  @Test
  void attachments_are_read_as_they_are_sent() {
    String json =
        "{\"_attachments\":{\"a\":{\"data\":\"aGFs\\nbG8=\",\"content_type\":\"t/x\",\"revpos\":2},"
            + "\"b/c\":{\"stub\":true,\"revpos\":1,\"digest\":\"md5-1B2M2Y8AsgTpgAmY7PhCfg==\"},"
            + "\"d\":{\"follows\":true,\"length\":9,\"encoding\":\"gzip\",\"encoded_length\":7}}}";
    List<EditedAttachment> all = interactive(json).attachments().all();

    EditedAttachment.Inline inline = (EditedAttachment.Inline) all.get(0);
    assertThat(inline.type()).isEqualTo("t/x");
    assertThat(inline.position()).isEqualTo(2);
    assertThat(new String(inline.data(), StandardCharsets.UTF_8)).isEqualTo("hallo");
    assertThat(all.get(1))
        .isEqualTo(
            new EditedAttachment.Stub(
                "b/c", Optional.of(1L), Md5.ofDigest("md5-1B2M2Y8AsgTpgAmY7PhCfg==")));
    assertThat(all.get(2))
        .isEqualTo(
            new EditedAttachment.Following(
                "d",
                "application/octet-stream",
                0,
                Optional.empty(),
                Optional.of(9L),
                Optional.of(7L),
                true));
  }

  private static String attached(String name, String attachment) {
    return "{\"_attachments\":{\"" + name + "\":" + attachment + "}}";
  }

  @Test
  void the_base_in_the_body_and_beside_it_must_agree() {
    NamedRevisions query = new NamedRevisions(Optional.of("1-a"), Optional.empty());

    assertThat(parser.interactive("a", query, utf8("{}")).base()).contains(RevisionId.of("1-a"));
    assertThat(parser.interactive("a", query, utf8("{\"_rev\":\"1-a\"}")).base())
        .contains(RevisionId.of("1-a"));
    assertBadRequest(
        () -> parser.interactive("a", query, utf8("{\"_rev\":\"1-b\"}")),
        "bad_request",
        "Document rev from request body and query string have different values");
    NamedRevisions header = new NamedRevisions(Optional.empty(), Optional.of("1-a"));
    assertBadRequest(
        () -> parser.interactive("a", header, utf8("{\"_rev\":\"1-b\"}")),
        "bad_request",
        "Document rev and etag have different values");
  }

  @Test
  void created_documents_take_their_own_id_or_a_new_one() {
    assertThat(parser.created(utf8("{\"_id\":\"own\"}"), () -> "new").id()).isEqualTo("own");
    assertThat(parser.created(utf8("{}"), () -> "new").id()).isEqualTo("new");
    assertThat(parser.created(utf8("{\"_rev\":\"1-a\"}"), () -> "new"))
        .as("nothing can have edited a new id")
        .isInstanceOfSatisfying(InteractiveEdit.class, edit -> assertThat(edit.base()).isEmpty());
  }

  @Test
  void replicated_documents_take_their_path_from_revisions() {
    String json =
        "{\"_rev\":\"9-z\",\"_revisions\":{\"start\":3,\"ids\":[\"c\",\"" + HASH + "\"]}}";
    ReplicatedEdit edit = parser.replicated("a", NamedRevisions.NONE, utf8(json));

    assertThat(edit.path().leaf()).isEqualTo(RevisionId.of("3-c"));
    assertThat(edit.path().ancestors()).containsExactly(RevisionId.of("2-" + HASH).hash());
  }

  @Test
  void replicated_documents_without_revisions_have_no_history() {
    assertThat(parser.replicated("a", NamedRevisions.NONE, utf8("{\"_rev\":\"9-z\"}")).path())
        .isEqualTo(RevisionPath.of(RevisionId.of("9-z")));
    NamedRevisions query = new NamedRevisions(Optional.of("9-z"), Optional.empty());
    assertThat(parser.replicated("a", query, utf8("{}")).path().leaf())
        .isEqualTo(RevisionId.of("9-z"));
    assertBadRequest(
        () -> parser.replicated("a", NamedRevisions.NONE, utf8("{}")),
        "bad_request",
        "When `new_edits: false`, the document needs `_rev` or `_revisions` specified");
  }

  @Test
  void history_that_no_branch_could_keep_is_read_and_dropped() {
    String ids = ("\"" + HASH + "\",").repeat(5_000);
    String json = "{\"_revisions\":{\"start\":5001,\"ids\":[" + ids + "\"" + HASH + "\"]},\"x\":1}";

    ReplicatedEdit edit = parser.replicated("a", NamedRevisions.NONE, utf8(json));

    assertThat(edit.path().ancestors()).hasSize(Ancestors.MAX_COUNT);
  }

  @Test
  void bulk_requests_have_their_members_in_any_order() {
    BulkEdits bulk =
        bulk(
            "{\"w\":[1],\"docs\":[{\"_id\":\"a\",\"_rev\":\"1-a\"},{\"x\":1,\"_rev\":\"1-b\"}],"
                + "\"atomic\":true,\"new_edits\":false}");

    assertThat(bulk.newEdits()).isFalse();
    assertThat(bulk.mode()).isEqualTo(BulkMode.ATOMIC);
    assertThat(bulk.edits()).allMatch(ReplicatedEdit.class::isInstance);
    assertThat(bulk.edits()).extracting(Edit::id).containsExactly("a", "new");
  }

  @Test
  void bulk_requests_are_interactive_and_not_atomic_unless_said() {
    BulkEdits bulk = bulk("{\"docs\":[{\"_id\":\"a\"},{}]}");

    assertThat(bulk.newEdits()).isTrue();
    assertThat(bulk.mode()).isEqualTo(BulkMode.EACH_ALONE);
    assertThat(bulk.edits()).allMatch(InteractiveEdit.class::isInstance);
    assertThat(bulk("{\"docs\":[]}").edits()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{}                                  | POST body must include `docs` parameter.",
        "{\"docs\":{}}                       | `docs` parameter must be an array.",
        "{\"docs\":[],\"new_edits\":1}       | `new_edits` parameter must be a boolean.",
        "{\"docs\":[{},[]]}                  | Document must be a JSON object",
        "[]                                  | Request body must be a JSON object",
      })
  void malformed_bulk_requests(String json, String reason) {
    assertBadRequest(() -> bulk(json), "bad_request", reason);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"_id\":\"k\",\"_x\":1                  | doc_validation  | Bad special document"
            + " member: _x",
        "\"_x\":{\"_id\":\"n\"},\"_id\":\"k\"       | doc_validation  | Bad special"
            + " document member: _x",
        "\"_id\":\"_k\",\"v\":[[1],{\"a\":{}}]    | illegal_docid   | Only reserved"
            + " document ids may start with underscore.",
        "\"_id\":\"\"                          | illegal_docid   | Document id must not be"
            + " empty",
        "\"_id\":5                             | illegal_docid   | Document id must be a"
            + " string",
        "\"_id\":\"\\ud800\"                    | bad_request     | Invalid JSON at line"
            + " 1, column 29: a string has an unpaired surrogate",
        "\"v\":[{\"w\":\"\\ud800\"},1],\"_id\":\"k\" | bad_request     | Invalid JSON at"
            + " line 1, column 33: a string has an unpaired surrogate",
        "\"v\":{\"w\":[1,2,1e999]},\"_id\":\"k\"  | bad_request     | Invalid JSON at line"
            + " 1, column 37: a number out of the range of a double",
        "\"_rev\":\"x\",\"_id\":\"k\"            | bad_request     | Invalid rev format",
        "\"_revisions\":{\"start\":1,\"ids\":[7,{}]},\"_id\":\"k\" | doc_validation | RevId"
            + " isn't a string",
        "\"_revisions\":{\"start\":1,\"ids\":[\"b\",\"a\"]},\"_id\":\"k\" | doc_validation |"
            + " _revisions.start is less than the number of _revisions.ids.",
        "\"_attachments\":{\"a\":{\"data\":\"?\"}},\"_id\":\"k\" | bad_request | Invalid"
            + " attachment data for a",
        "\"_id\":\"_local/k\",\"_rev\":\"1-a\"   | bad_request   | Invalid rev format",
      })
  void a_document_that_cannot_be_taken_refuses_the_request(
      String members, String error, String reason) {
    LectusError refusal =
        error(() -> bulk("{\"docs\":[{\"_id\":\"a\"},{" + members + "},{\"_id\":\"b\"}]}"));

    assertThat(refusal.error()).isEqualTo(error);
    assertThat(refusal.reason()).isEqualTo(reason);
  }

  @Test
  void a_replicated_document_beyond_the_limits_fails_alone() {
    String exploding = "7,".repeat(4_000_000) + "7";
    String longId = "i".repeat(513);
    BulkEdits bulk =
        bulk(
            "{\"new_edits\":false,\"docs\":[{\"v\":["
                + exploding
                + "],\"_id\":\"many\",\"_rev\":\"1-a\"},{\"_id\":\"a\",\"_rev\":\"1-a\"},{\"_id\":\""
                + longId
                + "\",\"_rev\":\"1-a\"},{\""
                + "m".repeat(10_000)
                + "\":[{}],\"_id\":\"name\",\"_rev\":\"1-a\"}]}");

    assertThat(bulk.edits()).extracting(Edit::id).containsExactly("a");
    assertThat(bulk.refused()).extracting(RefusedEdit::place).containsExactly(0, 2, 3);
    assertThat(bulk.refused()).extracting(RefusedEdit::id).containsExactly("many", longId, "name");
    assertThat(bulk.refused())
        .extracting(refused -> refused.error().error())
        .containsExactly("document_too_large", "illegal_docid", "document_too_large");
  }

  @Test
  void a_refused_document_of_a_replicator_tells_its_revision_if_it_has_one() {
    BulkEdits bulk =
        bulk(
            "{\"new_edits\":false,\"docs\":[{\"_x\":1,\"_id\":\"a\",\"_rev\":\"2-b\"},"
                + "{\"_id\":\"b\",\"_x\":1,\"_revisions\":{\"start\":3,\"ids\":[\"c\"]}},"
                + "{\"_id\":\"c\",\"_rev\":\"x\"}]}");

    assertThat(bulk.edits()).as("a replicator goes on even so").isEmpty();
    assertThat(bulk.refused())
        .extracting(RefusedEdit::revision)
        .containsExactly(
            Optional.of(RevisionId.of("2-b")), Optional.of(RevisionId.of("3-c")), Optional.empty());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"docs\":[{\"_x\":1},{\"_id\":\"_y\"}]}                         | doc_validation",
        "{\"atomic\":true,\"docs\":[{},{\"_id\":\"_y\"},{\"_x\":1}]}      | illegal_docid",
        "{\"docs\":[{},{\"_x\":1}],\"all_or_nothing\":true}             | doc_validation",
        "{\"docs\":[{\"_rev\":\"1-a\",\"_x\":1}],\"atomic\":true,\"new_edits\":false} |"
            + " doc_validation",
        "{\"docs\":[{\"_id\":\"a\",\"_rev\":\"1-a\"},{\"_id\":\"b\"}],\"new_edits\":false} |"
            + " bad_request",
        "{\"docs\":[{\"_id\":\"a\"},7]}                                 | bad_request",
        "{\"docs\":[{\"_id\":\"a\"},null]}                              | bad_request",
        "{\"docs\":[{\"_x\":1},{\"_id\":\"a\"},{\"b\":}]}              | bad_request",
        "{\"docs\":[{\"_x\":{\"a\":[tru]}},{\"_id\":\"a\"}]}            | bad_request",
        "{\"docs\":[{\"_x\":1,\"a\":\"\u0001\"},{\"_id\":\"a\"}]}      | bad_request",
        "{\"docs\":[{\"_x\":1},{\"_id\":\"a\"}]                        | bad_request",
        "{\"docs\":[{\"\\ud800\":1},{\"_id\":\"a\"}]}                     | bad_request",
        "{\"docs\":[{\"a\":x},{\"_id\":\"a\"}]}                        | bad_request",
      })
  void what_is_wrong_with_the_request_refuses_all_of_it(String json, String error) {
    assertThat(error(() -> bulk(json)).error()).isEqualTo(error);
  }

  @Test
  void what_an_error_repeats_is_bounded() {
    String refused = "{\"new_edits\":false,\"docs\":[{\"_id\":\"%s\",\"_rev\":\"1-a\"}]}";

    assertThat(bulk(refused.formatted("i".repeat(8_192))).refused())
        .extracting(RefusedEdit::id)
        .containsExactly("i".repeat(8_192));
    assertThat(bulk(refused.formatted("i".repeat(8_193))).refused())
        .extracting(RefusedEdit::id)
        .containsExactly("new");
    assertThat(error(() -> interactive("{\"_" + "x".repeat(99) + "\":1}")).reason())
        .endsWith(": _" + "x".repeat(99));
    assertThat(error(() -> interactive("{\"_" + "x".repeat(100) + "\":1}")).reason())
        .endsWith(": _" + "x".repeat(99) + "…");
    assertThat(error(() -> interactive("{\"_rev\":\"1-" + "a".repeat(1_023) + "\"}")).reason())
        .isEqualTo("Invalid rev format");
    assertThat(
            error(
                    () ->
                        interactive(
                            "{\"_revisions\":{\"start\":1,\"ids\":[\""
                                + "a".repeat(1_025)
                                + "\"]}}"))
                .reason())
        .isEqualTo("RevId isn't valid");
  }

  @Test
  void of_docs_that_come_twice_the_last_ones_stand() {
    BulkEdits bulk = bulk("{\"docs\":[{\"_x\":1},{\"_id\":\"a\"}],\"docs\":[{\"_id\":\"b\"}]}");

    assertThat(bulk.edits()).extracting(Edit::id).containsExactly("b");
    assertThat(bulk.refused()).isEmpty();
  }

  @Test
  void a_request_takes_half_a_million_documents() {
    String some = "{\"_x\":1},".repeat(BulkEdits.MAX_DOCUMENTS - 1);

    BulkEdits most =
        bulk("{\"new_edits\":false,\"docs\":[" + some + "{\"_id\":\"a\",\"_rev\":\"1-a\"}]}");
    assertThat(most.edits()).extracting(Edit::id).containsExactly("a");
    assertThat(most.refused()).hasSize(BulkEdits.MAX_DOCUMENTS - 1);
    assertThat(error(() -> bulk("{\"docs\":[{}," + some + "{\"_id\":\"a\"}]}")))
        .isEqualTo(
            new LectusError.TooLarge(
                "too_large", "A request takes 500000 documents at most, this has more."));
  }

  @Test
  void a_portion_ends_where_others_have_the_memory_and_the_next_begins_there() {
    String docs =
        IntStream.range(0, 9).mapToObj(i -> "{\"_id\":\"" + i + "\"}").collect(joining(","));
    long[] held = {0};
    long[] room = {6_000};
    BulkReading reading =
        new BulkReading(
            parser,
            SentJson.of(utf8("{\"docs\":[" + docs + "],\"new_edits\":true}")),
            () -> "new",
            id -> {},
            bytes -> {
              if (held[0] + bytes > room[0]) {
                throw new LectusException(new LectusError.Unavailable("others have it"));
              }
              held[0] += bytes;
            },
            2_000);

    assertThat(reading.next().edits()).extracting(Edit::id).containsExactly("0", "1", "2", "3");
    room[0] = 1_200;
    assertThat(reading.next().edits()).extracting(Edit::id).containsExactly("4", "5");
    room[0] = 0;
    assertThat(error(reading::next)).isInstanceOf(LectusError.Unavailable.class);
    room[0] = 6_000;
    BulkEdits last = reading.next();
    assertThat(last.edits()).extracting(Edit::id).containsExactly("6", "7", "8");
    assertThat(last.areLast()).isTrue();
  }

  @Test
  void members_that_couchdbs_replicator_notes_are_kept() {
    String notes =
        "{\"_access\":[\"u\"],\"_replication_id\":\"i\",\"_replication_state\":\"s\","
            + "\"_replication_state_reason\":{\"a\":1},\"_replication_state_time\":\"t\","
            + "\"_replication_stats\":[1]}";

    assertThat(json(interactive(notes).body())).isEqualTo(notes);
  }

  @Test
  void local_documents_of_a_bulk_request_count_their_revision_on_wherever_the_id_stands() {
    assertThat(bulk("{\"docs\":[{\"_rev\":\"0-3\",\"v\":1,\"_id\":\"_local/a\"}]}").edits())
        .singleElement()
        .isInstanceOfSatisfying(
            LocalEdit.class,
            edit -> {
              assertThat(edit.id()).isEqualTo("_local/a");
              assertThat(edit.number()).isEqualTo(4);
              assertThat(json(edit.body())).isEqualTo("{\"v\":1}");
            });
    assertThat(error(() -> bulk("{\"docs\":[{\"_rev\":\"3\",\"_id\":\"a\"},{}]}")))
        .isEqualTo(new LectusError.BadRequest("bad_request", "Invalid rev format"));
  }

  private BulkEdits bulk(String json) {
    return new BulkReading(
            parser, SentJson.of(utf8(json)), () -> "new", id -> {}, bytes -> {}, Long.MAX_VALUE)
        .next();
  }

  private InteractiveEdit interactive(String json) {
    return parser.interactive("a", NamedRevisions.NONE, utf8(json));
  }

  private static String json(ExplodedBody body) {
    JsonBuffer out = new JsonBuffer(64).octet('{');
    JsonAssembler assembler = new JsonAssembler(out, false);
    body.leaves().forEach(leaf -> assembler.leaf(leaf.path(), 0, leaf.value()));
    assembler.finish();
    return out.octet('}').toString();
  }

  private static void assertBadRequest(ThrowingCallable parsing, String error, String reason) {
    assertThat(error(parsing)).isEqualTo(new LectusError.BadRequest(error, reason));
  }

  private static LectusError error(ThrowingCallable parsing) {
    LectusError[] found = new LectusError[1];
    assertThatThrownBy(parsing)
        .isInstanceOfSatisfying(LectusException.class, e -> found[0] = e.error());
    return found[0];
  }
}
