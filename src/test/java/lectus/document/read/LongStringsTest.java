package lectus.document.read;

import static lectus.document.testing.TestDatabase.utf8;
import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.database.DatabaseRequest;
import lectus.derived.Selector;
import lectus.document.AttachmentsShown;
import lectus.document.DocumentsSubspace;
import lectus.document.PagedBody;
import lectus.document.RowParts.PageLimits;
import lectus.document.read.OpenRevisions.OpenRevisionsJson;
import lectus.document.testing.Answers;
import lectus.document.testing.TestDatabase;
import lectus.json.FieldPath;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A string stored in pieces appears as one string to every reader of documents. */
class LongStringsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final TestDatabase db = TestDatabase.create(stores.fresh(), BodyLayout.RFC004);
  private final DocumentReader reader =
      new DocumentReader(db.catalogue, db.transactions, new DocumentCache(1 << 20));

  @Test
  void a_long_string_is_read_as_it_was_written() {
    String body =
        "\"a\":\"" + "é\\u0000".repeat(60_000) + "\",\"b\":[\"" + "x".repeat(5_000_000) + "\",1]";
    RevisionId revision = db.put("a", "{" + body + "}");

    String whole = "{\"_id\":\"a\",\"_rev\":\"" + revision + "\"," + body + "}";
    assertThat(read(DocumentQuery.DEFAULT)).isEqualTo(whole);
    assertThat(read(at(revision, List.of()))).isEqualTo(whole);
    assertThat(allDocs(Map.of("include_docs", "true"))).contains("\"doc\":" + whole);
    assertThat(allDocs(Map.of("include_docs", "true", "descending", "true")))
        .contains("\"doc\":" + whole);
  }

  @Test
  void a_long_string_is_a_field() {
    String text = "x".repeat(250_000);
    RevisionId revision =
        db.put("a", "{\"a\":\"0\",\"b\":{\"c\":\"" + text + "\",\"d\":1},\"b2\":2,\"e\":3}");
    String head = "{\"_id\":\"a\",\"_rev\":\"" + revision + "\",";

    assertThat(read(fields("b.c"))).isEqualTo(head + "\"b\":{\"c\":\"" + text + "\"}}");
    assertThat(read(fields("b"))).isEqualTo(head + "\"b\":{\"c\":\"" + text + "\",\"d\":1}}");
    assertThat(read(fields("a", "e"))).isEqualTo(head + "\"a\":\"0\",\"e\":3}");
    assertThat(read(fields("b.c", "e", "a")))
        .isEqualTo(head + "\"a\":\"0\",\"b\":{\"c\":\"" + text + "\"},\"e\":3}");
  }

  @Test
  void a_long_string_belongs_to_its_revision() {
    String other = "\"" + "y".repeat(300_000) + "\"";
    db.replicate("a", "{\"v\":\"" + "x".repeat(200_000) + "\"}", "1-aa");
    db.replicate("a", "{\"v\":" + other + "}", "1-bb");
    db.replicate("a", "{\"_deleted\":true,\"v\":" + other + "}", "1-cc");

    String tombstone =
        "{\"ok\":{\"_id\":\"a\",\"_rev\":\"1-cc\",\"v\":" + other + ",\"_deleted\":true}}";
    assertThat(openRevisions()).startsWith("[").contains("x\"}},", "y\"}}", tombstone);
    RevisionId winner = RevisionId.of("1-bb");
    db.put("a", winner, "{}");
    assertThat(openRevisions()).contains("{\"_id\":\"a\",\"_rev\":\"2-").contains("x\"}}");
  }

  private String openRevisions() {
    return Answers.whole(
        reader.openRevisions(
            DatabaseRequest.byServer(db.name),
            "a",
            OpenRevisions.parse("all", false, false, AttachmentsShown.STUBS).orElseThrow(),
            new OpenRevisionsJson()));
  }

  @Test
  void a_long_string_goes_with_its_revision() {
    RevisionId first = db.put("a", "{\"v\":\"" + "x".repeat(450_000) + "\"}");
    assertThat(rows("a")).hasSize(6);
    RevisionId second = db.put("a", first, "{\"v\":\"" + "x".repeat(99_998) + "\"}");
    assertThat(rows("a")).hasSize(2);
    db.delete("a", db.put("a", second, "{\"v\":\"" + "x".repeat(99_999) + "\"}"));
    assertThat(rows("a")).isEmpty();
  }

  @Test
  void short_strings_lie_as_they_lay_before() {
    db.put("a", "{\"b\":{\"c\":\"xy\"}}");

    List<KeyValue> rows = rows("a");
    assertThat(ByteArrayUtil.printable(rows.get(1).getKey())).endsWith("\\x02b\\x00\\x02c\\x00");
    assertThat(ByteArrayUtil.printable(rows.get(1).getValue())).isEqualTo("\\x02xy\\x00");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'long':'TEXT'}",
        "{'long':{'$eq':'TEXT'}}",
        "{'long':{'$ne':'TEXTx'}}",
        "{'long':{'$gt':'TEXs','$lt':'TEXTy'}}",
        "{'long':{'$gte':'TEXT','$lte':'TEXT'}}",
        "{'long':{'$gt':null}}",
        "{'long':{'$regex':'é$'}}",
        "{'long':{'$beginsWith':'TEX'}}",
        "{'long':{'$in':['x','TEXT']}}",
        "{'long':{'$nin':['x','TEXTx']}}",
        "{'long':{'$exists':true,'$type':'string'}}",
        "{'long':{'$type':'string','$regex':'é$'}}",
        "{'longer.0':{'$exists':false}}",
        "{'list':{'$all':['TEXT']}}",
        "{'list':{'$size':2}}",
        "{'list':['TEXT','b']}",
        "{'list':{'$elemMatch':{'$eq':'TEXT'}}}",
        "{'list':{'$allMatch':{'$beginsWith':'T'}},'list.1':'b'}",
        "{'list.0':'TEXT','long':{'$not':{'$regex':'^x'}}}",
        "{'$and':[{'$keyMapMatch':{'$eq':'long'}}]}",
        "{'list':{'$gt':['TEXT']}}",
        "{'$or':[{'long':{'$exists':false}},{'long':{'$regex':'é$'}}]}",
      })
  void a_long_string_is_matched_whole(String selector) {
    String text = "TEX" + "T".repeat(300_000) + "é";
    RevisionId revision =
        db.put("a", json("{'long':'%s','longer':{'x':1},'list':['%s','b']}").formatted(text, text));
    // All strings of the list begin with T except the second, which makes one selector fail.
    boolean expected = !selector.contains("$allMatch");

    String json = selector.replace('\'', '"').replace("TEXT", text);
    Selector compiled = Selector.compile(JsonValue.parse(utf8(json)));
    boolean matches =
        db.read(
            (tx, handle) -> {
              SelectedDocuments documents = new SelectedDocuments(tx, handle, compiled.reads());
              return documents.matches(compiled, documents.start("a", false, revision));
            });

    assertThat(matches).isEqualTo(expected);
  }

  @Test
  void a_long_string_is_not_read_to_tell_its_type() {
    RevisionId revision = db.put("a", "{\"s\":\"" + "x".repeat(900_000) + "\"}");

    assertThat(bytesRead(revision, "{'s':{'$exists':true}}")).isLessThan(101_000);
    assertThat(bytesRead(revision, "{'s':{'$type':'string'}}")).isLessThan(101_000);
    assertThat(bytesRead(revision, "{'s':{'$beginsWith':'x'}}")).isGreaterThan(900_000);
  }

  private long bytesRead(RevisionId revision, String selector) {
    Selector compiled = Selector.compile(JsonValue.parse(utf8(selector.replace('\'', '"'))));
    return db.read(
        (tx, handle) -> {
          SelectedDocuments documents = new SelectedDocuments(tx, handle, compiled.reads());
          assertThat(documents.matches(compiled, documents.start("a", false, revision))).isTrue();
          return documents.bytesRead();
        });
  }

  @Test
  void parts_of_lists_end_behind_the_document_that_fills_them() {
    String json = "{\"v\":\"" + "x".repeat(400_000) + "\"}";
    for (int i = 0; i < 12; i++) {
      // The first documents are small, so that many large ones are then read ahead.
      db.put("d" + (char) ('a' + i), i < 6 ? "{}" : json);
    }
    String ids = json("['da','db','dc','dd','de','df','dg','dh','di','dj','dk','dl']");
    AllDocs lists = new AllDocs(db.catalogue, db.transactions);
    PagedBody whole =
        lists.answer(
            DatabaseRequest.byServer(db.name),
            AllDocsQuery.parse(
                AllDocsQuery.Listing.ALL, Map.of("include_docs", "true", "keys", ids), null));
    assertPartsAreBounded(whole, 12);
    assertPartsAreBounded(
        lists.answer(
            DatabaseRequest.byServer(db.name),
            AllDocsQuery.parse(AllDocsQuery.Listing.ALL, Map.of("include_docs", "true"), null)),
        12);
  }

  private static void assertPartsAreBounded(PagedBody body, int rows) {
    StringBuilder all = new StringBuilder();
    boolean more = true;
    while (more) {
      JsonBuffer part = new JsonBuffer(64);
      more = body.appendNext(part);
      assertThat(part.length()).isLessThan(PageLimits.DEFAULT.bytes() + 401_000);
      all.append(part);
    }
    assertThat(JsonValue.parse(utf8(all.toString())).toString()).isNotEmpty();
    assertThat(all.toString().split("\"doc\":", -1)).hasSize(rows + 1);
  }

  private String allDocs(Map<String, String> parameters) {
    AllDocs lists = new AllDocs(db.catalogue, db.transactions);
    return Answers.whole(
        lists.answer(
            DatabaseRequest.byServer(db.name),
            AllDocsQuery.parse(AllDocsQuery.Listing.ALL, parameters, null)));
  }

  private List<KeyValue> rows(String id) {
    return db.read(
        (tx, handle) -> {
          byte[] document = new DocumentsSubspace(handle).document(id);
          return Awaiting.await(tx.getRange(document, DocumentsSubspace.endOf(document)).asList());
        });
  }

  private String read(DocumentQuery options) {
    JsonBuffer out = new JsonBuffer(64);
    reader.read(DatabaseRequest.byServer(db.name), "a", options, out);
    return out.toString();
  }

  private static DocumentQuery fields(String... fields) {
    return new DocumentQuery(Optional.empty(), false, false, false, false, false, paths(fields));
  }

  private static DocumentQuery at(RevisionId revision, List<FieldPath> fields) {
    return new DocumentQuery(Optional.of(revision), false, false, false, false, false, fields);
  }

  private static List<FieldPath> paths(String... fields) {
    return List.of(fields).stream().map(FieldPath::parse).toList();
  }
}
