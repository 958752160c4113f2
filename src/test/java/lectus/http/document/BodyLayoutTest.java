package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.StoreAudit;
import lectus.audit.StoreAudit.AuditListener;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseSubspace;
import lectus.document.RevisionMetadata;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.json.TupleWriter;
import lectus.store.HeldCommits;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two databases, in either layout, which clients cannot tell apart. */
final class BodyLayoutTest {
  /** Bytes of a body with one member of one letter beside the characters of its string. */
  private static final int FRAME = 8;

  private static final int LARGEST = 8_000_000;

  private static final int MOST = RevisionMetadata.MAX_INLINE_BYTES - FRAME;

  /** Databases whose bodies are in one row, in rows, and text. */
  private static final List<String> FORMS = List.of("inline", "rfc004", "text");

  /** Leaves that weigh more than rows may, but only under a long id. */
  private static final String PAD = "\"pad\":[" + "0,".repeat(5_999) + "0]";

  private static final List<String> NAMES =
      List.of(
          "\"a\"", "\"b\"", "\"0\"", "\"a\\u0000b\"", "\"é\"", "\"😀.c\"", "\"\\u0061\"", "\"\"");

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  private final LectusServer server =
      LectusServer.start(store, new TestSettings().maxRequestBytes(16 << 20));

  @BeforeEach
  void create() {
    server.put("/inline?layout=inline").expect(201);
    server.put("/rfc004?layout=rfc004").expect(201);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  /** Sends the request to both, and returns what both answer. */
  private String both(String method, String target, String body) {
    List<Answer> answers = new ArrayList<>();
    for (String name : List.of("inline", "rfc004")) {
      Request request =
          server.request(method, "/" + name + target).header("Accept", "application/json");
      answers.add(body.isEmpty() ? request.send() : request.json(body).send());
    }
    answers.get(1).expect(answers.get(0).status());
    if (!answers.get(1).body().equals(answers.get(0).body())) {
      assertThat(unstamped(answers.get(1))).isEqualTo(unstamped(answers.get(0)));
    }
    return answers.get(0).body();
  }

  /** The order of changes differs, as concurrent transactions write a bulk. */
  private static List<String> unstamped(Answer answer) {
    return answer.body().lines().map(BodyLayoutTest::unstamped).sorted().toList();
  }

  private static String unstamped(String line) {
    return line.replaceAll(",$", "")
        .replaceAll("\"(seq|last_seq|bookmark|pending)\": ?(\"[^\"]*\"|\\d+)", "\"$1\":0")
        .replaceAll("\"dbname\":\"\\w+\"", "");
  }

  /** Counters and the version key are written once for all documents of a transaction. */
  @Test
  void an_inline_document_takes_five_mutations_and_one_of_rows_one_more_for_each_leaf(
      @TempDir Path folder) {
    String members =
        IntStream.range(0, 25)
            .mapToObj(i -> "\"m" + i + "\":" + (i % 3 == 0 ? "\"text " + i + "\"" : i * 1.25))
            .collect(Collectors.joining(","));
    String docs =
        IntStream.range(0, 100)
            .mapToObj(i -> "{\"_id\":\"" + (1_000 + i) + "\"," + members + "}")
            .collect(Collectors.joining(",", "{\"atomic\":true,\"docs\":[", "]}"));
    HeldCommits commits = new HeldCommits();
    Map<String, List<Long>> found = new TreeMap<>();
    try (Store counted = commits.open(folder);
        LectusServer its = LectusServer.start(counted)) {
      for (String layout : List.of("inline", "rfc004")) {
        its.put("/" + layout + "?layout=" + layout);
        long mutations = commits.mutations();
        long bytes = commits.bytes();
        its.post("/" + layout + "/_bulk_docs", docs).expect(201);
        found.put(layout, List.of(commits.mutations() - mutations, commits.bytes() - bytes));
      }
    }
    System.out.println("mutations and bytes of 100 documents: " + found);
    assertThat(found.get("inline").get(0)).isLessThan(500);
    // A lease of the server may be renewed meanwhile.
    assertThat(found.get("rfc004").get(0) - found.get("inline").get(0)).isBetween(2_480L, 2_520L);
    assertThat(found.get("inline").get(1) * 2).isLessThan(found.get("rfc004").get(1));
  }

  private static String text(int characters) {
    return "{\"v\":\"" + "x".repeat(characters) + "\"}";
  }

  private List<KeyValue> rows(String name, DatabaseSubspace subspace) {
    TestDatabase db = TestDatabase.open(store, name);
    return db.read((tx, it) -> tx.getRange(subspace.range(it.prefix())).asList().join());
  }

  private int bodyRows(String name) {
    return rows(name, DatabaseSubspace.DOCUMENTS).size();
  }

  private void assertSound() {
    SoundStore.assertSound(store);
  }

  @Test
  void the_layout_is_shown_and_anything_else_is_refused() {
    assertThat(server.get("/inline").body()).contains("\"props\":{\"layout\":\"inline\"}");
    assertThat(server.get("/rfc004").body()).contains("\"props\":{\"layout\":\"rfc004\"}");
    server.put("/other?layout=rows").expect(400);
    server.get("/other").expect(404);
  }

  @Test
  void a_body_of_up_to_the_bound_is_one_row_and_a_larger_one_is_not() {
    String rev = "";
    for (int characters : new int[] {MOST - 1, MOST, MOST + 1, MOST, MOST + 1, 0}) {
      String body = text(characters);
      String put = rev.isEmpty() ? body : body.replace("}", ",\"_rev\":\"" + rev + "\"}");
      rev = server.put("/inline/a", put).member("rev");
      assertThat(server.put("/rfc004/a", put).member("rev")).isEqualTo(rev);
      assertThat(bodyRows("inline")).isEqualTo(characters > MOST ? 2 : 1);
      assertThat(bodyRows("rfc004")).isEqualTo(2);
      assertThat(both("GET", "/a", "")).contains(body.substring(1));
      assertSound();
    }
    assertThat(both("DELETE", "/a?rev=" + rev, "")).contains("\"ok\":true");
    assertThat(bodyRows("inline")).isZero();
    assertThat(bodyRows("rfc004")).isZero();
  }

  @Test
  void local_documents_cross_the_bound_both_ways() {
    for (int characters : new int[] {3, MOST, MOST + 1, MOST}) {
      both("PUT", "/_local/a", text(characters));
      assertThat(both("GET", "/_local/a", "")).contains("x".repeat(characters) + "\"}");
      int bodies = characters > MOST ? 2 : 1;
      assertThat(rows("inline", DatabaseSubspace.LOCAL_DOCS)).hasSize(1 + bodies);
      assertThat(both("GET", "/_local_docs?include_docs=true", "")).contains("\"v\":\"x");
      assertSound();
    }
    both("DELETE", "/_local/a", "");
    assertThat(rows("inline", DatabaseSubspace.LOCAL_DOCS)).isEmpty();
  }

  @Test
  void conflicts_have_leaves_of_either_kind() {
    for (String rev : List.of("2-a", "2-b", "2-c")) {
      String body = rev.equals("2-b") ? text(20_000) : text(10);
      both(
          "POST",
          "/_bulk_docs",
          "{\"new_edits\":false,\"docs\":["
              + body.replace("}", ",\"_id\":\"a\",\"_rev\":\"" + rev + "\"}")
              + "]}");
    }
    assertThat(both("GET", "/a?conflicts=true", "")).contains("\"_conflicts\":[\"2-b\",\"2-a\"]");
    assertThat(both("GET", "/a?open_revs=all&revs=true", "")).contains("2-a", "2-b", "2-c");
    assertThat(both("GET", "/a?rev=2-b", "")).contains("x".repeat(20_000));
    assertThat(both("GET", "/a?rev=2-b&fields=%5B%22v%22%5D", "")).contains("x".repeat(20_000));
    both("DELETE", "/a?rev=2-c", "");
    assertThat(both("GET", "/a", "")).contains("\"_rev\":\"2-b\"");
    both("PUT", "/a?rev=2-b", text(1));
    assertThat(both("GET", "/a?rev=2-a", "")).contains("x".repeat(10));
    assertSound();
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 9_000, 1_000_000})
  void members_come_back_in_the_order_in_which_they_were_sent(int characters) {
    String text = "\"z\":\"" + "z".repeat(characters) + "\"";
    String members =
        "\"c\":{\"y\":[{\"q\":1,\"p\":2},{\"s\":{},\"r\":[]}],\"x\":null},"
            + text
            + ",\"b\":1,\"a\":{\"2\":2,\"1\":1}";
    String rev =
        member(
            both("PUT", "/one", "{\"gone\":0," + members.replace("\"b\":1", "\"gone\":0") + "}"));
    both("PUT", "/one", "{\"_rev\":\"" + rev + "\",\"b\":7," + members + "}");
    both("POST", "/_bulk_docs", "{\"docs\":[{" + members + ",\"_id\":\"two\"}]}");
    both(
        "POST",
        "/_bulk_docs",
        "{\"new_edits\":false,\"docs\":[{\"_id\":\"three\",\"_rev\":\"1-a\"," + members + "}]}");
    both("PUT", "/_local/four", "{" + members + "}");
    String shown = "," + members + "}";
    for (String target : List.of("/one", "/two", "/three?rev=1-a", "/_local/four")) {
      assertThat(both("GET", target, "")).endsWith(shown + "\n");
    }
    for (String target :
        List.of(
            "/_all_docs?include_docs=true",
            "/_all_docs?include_docs=true&descending=true",
            "/_changes?include_docs=true")) {
      assertThat(both("GET", target, "").split(Pattern.quote(shown), -1)).hasSize(4);
    }
    String find = "{\"selector\":{\"a.1\":1,\"z\":{\"$beginsWith\":\"zz\"}}}";
    assertThat(both("POST", "/_find", find).split(Pattern.quote(shown), -1)).hasSize(4);
    String keys = "{\"docs\":[{\"id\":\"one\"},{\"id\":\"two\"},{\"id\":\"three\"}]}";
    assertThat(both("POST", "/_bulk_get", keys).split(Pattern.quote(shown), -1)).hasSize(4);
    assertThat(both("GET", "/one?fields=%5B%22b%22,%22a%22,%22c.x%22%5D", ""))
        .contains("\"a\":{\"1\":1,\"2\":2},\"b\":1,\"c\":{\"x\":null}}");
    assertSound();
  }

  private static String member(String answer) {
    return answer.replaceAll("(?s).*\"rev\":\"([^\"]+)\".*", "$1");
  }

  @Test
  void the_order_of_an_index_is_that_of_its_fields() {
    String design =
        "{\"language\":\"query\",\"views\":{\"v\":{\"map\":{\"fields\":{\"b\":\"asc\",\"a\":\"asc\"}},"
            + "\"reduce\":\"_count\",\"options\":{\"def\":{\"fields\":[\"a\",\"b\"]}}}}}";
    both("PUT", "/_design/d", design);
    assertThat(both("GET", "/_design/d", "")).contains("{\"b\":\"asc\",\"a\":\"asc\"}");
    assertThat(both("GET", "/_index", "")).contains("\"fields\":[{\"b\":\"asc\"},{\"a\":\"asc\"}]");
    both(
        "POST",
        "/_bulk_docs",
        "{\"docs\":[{\"_id\":\"k\",\"a\":1,\"b\":2},{\"_id\":\"l\",\"a\":2,\"b\":1},{\"_id\":\"m\",\"a\":0,\"b\":2}]}");
    String query =
        "{\"selector\":{\"b\":{\"$gt\":0}},\"sort\":[\"b\",\"a\"],\"fields\":[\"a\",\"b\"],"
            + "\"use_index\":\"d\"}";
    assertThat(server.post("/inline/_find", query).body().replaceAll("\\s", ""))
        .contains("{\"a\":2,\"b\":1},{\"a\":0,\"b\":2},{\"a\":1,\"b\":2}")
        .doesNotContain("warning");
  }

  @Test
  void clients_see_no_difference() {
    Random random = new Random(7);
    StringBuilder docs = new StringBuilder();
    for (int i = 0; i < 60; i++) {
      docs.append(i == 0 ? "" : ",").append(document(random, i));
    }
    both("POST", "/_index", "{\"index\":{\"fields\":[\"n\"]},\"ddoc\":\"i\",\"name\":\"i\"}");
    both("POST", "/_bulk_docs", "{\"docs\":[" + docs + "]}");
    for (String target :
        List.of(
            "/_all_docs?include_docs=true",
            "/_all_docs?include_docs=true&descending=true&limit=7",
            "/_changes?include_docs=true",
            "/_design_docs?include_docs=true",
            "/d3?fields=%5B%22n%22,%22o.a%22%5D",
            "/d4?fields=%5B%22l.1%22%5D",
            "/d5?revs_info=true")) {
      assertThat(both("GET", target, "")).doesNotContain("error");
    }
    for (String query :
        List.of(
            "{\"selector\":{\"n\":{\"$gt\":20}},\"limit\":100}",
            "{\"selector\":{\"o.a\":{\"$exists\":true}},\"fields\":[\"_id\",\"o\",\"l.0\"]}",
            "{\"selector\":{\"l\":{\"$elemMatch\":{\"$gt\":1}}},\"fields\":[\"l\"],\"limit\":50}",
            "{\"selector\":{\"_id\":{\"$gt\":\"d2\"},\"t\":{\"$size\":3}}}",
            "{\"selector\":{\"t\":{\"$type\":\"string\"}},\"fields\":[\"_rev\",\"n\"]}")) {
      both("POST", "/_find", query);
    }
    both("POST", "/_bulk_get", "{\"docs\":[{\"id\":\"d1\"},{\"id\":\"d2\"},{\"id\":\"none\"}]}");
    both("POST", "/_changes?filter=_selector", "{\"selector\":{\"o\":{\"$exists\":true}}}");
    assertSound();
  }

  @Test
  void selectors_fields_and_indexes_see_no_difference_between_the_three_forms() {
    String idEnd = "-".repeat(500);
    server.put("/text?layout=inline");
    Random random = new Random(11);
    List<String> inline = new ArrayList<>();
    List<String> rows = new ArrayList<>();
    List<String> text = new ArrayList<>();
    for (int i = 10; i < 22; i++) {
      String members = "\"n\":" + i + "," + members(random, 3);
      String padded = random.nextBoolean() ? members + "," + PAD : PAD + "," + members;
      inline.add("{\"_id\":\"d" + i + "\"," + members + "}");
      rows.add("{\"_id\":\"d" + i + "\"," + padded + "}");
      text.add("{\"_id\":\"d" + i + idEnd + "\"," + padded + "}");
    }
    bulk("inline", inline);
    bulk("rfc004", rows);
    bulk("text", text);
    assertThat(bodyRows("inline")).isEqualTo(12);
    assertThat(bodyRows("rfc004")).isGreaterThan(12 * 6_000);
    assertThat(bodyRows("text")).isEqualTo(24);

    List<String> finds = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      String fields = field(random) + "," + field(random) + ",\"n\"";
      String find =
          "{\"selector\":" + selector(random) + ",\"limit\":99,\"fields\":[" + fields + "]}";
      finds.add(find);
      same(find, "/_find", find);
      same(find, "/_changes?filter=_selector", find.replaceAll(",\"limit.*", "}"));
      String id = "/d" + (10 + random.nextInt(12));
      String query = "?fields=" + URLEncoder.encode("[" + fields + "]", StandardCharsets.UTF_8);
      String shown =
          same(
              id + query,
              name -> server.get("/" + name + id + (name.equals("text") ? idEnd : "") + query));
      assertThat(shown).contains("\"n\":");
    }
    for (String field : List.of("a", "b.a", "é", "n")) {
      String index = "{\"index\":{\"fields\":[\"" + field + "\"]},\"name\":\"" + field + "\"}";
      for (String name : FORMS) {
        server.request("POST", "/" + name + "/_index").json(index).send().expect(200);
      }
      String sorted =
          "{\"selector\":{\"F\":{\"$gt\":null}},\"sort\":[\"F\"],\"fields\":[\"n\",\"F\"],\"limit\":99}";
      same(field, "/_find", sorted.replace("F", field));
    }
    finds.forEach(find -> same(find, "/_find", find));
    assertSound();
  }

  private void bulk(String name, List<String> docs) {
    for (int from = 0; from < docs.size(); from += 10) {
      String some = String.join(",", docs.subList(from, Math.min(docs.size(), from + 10)));
      Answer answer =
          server
              .request("POST", "/" + name + "/_bulk_docs")
              .json("{\"docs\":[" + some + "]}")
              .send();
      assertThat(answer.body()).doesNotContain("error");
    }
  }

  private void same(String label, String target, String body) {
    same(label, name -> server.request("POST", "/" + name + target).json(body).send());
  }

  /** Returns the one answer of all forms. */
  private static String same(String label, Function<String, Answer> answer) {
    List<List<String>> answers =
        FORMS.stream().map(answer).map(BodyLayoutTest::unlabelled).toList();
    assertThat(answers.get(1)).as(label).isEqualTo(answers.get(0));
    assertThat(answers.get(2)).as(label).isEqualTo(answers.get(0));
    return answers.get(0).toString();
  }

  /** Returns an answer's lines without what tells the documents' ids, revisions and changes. */
  private static List<String> unlabelled(Answer answer) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    List<String> lines =
        answer
            .body()
            .lines()
            .map(BodyLayoutTest::unstamped)
            .map(it -> it.replaceAll("-{500}", "").replaceAll("\"1-[0-9a-f]{32}\"", "\"1\""))
            .toList();
    return answer.body().contains("last_seq") ? lines.stream().sorted().toList() : lines;
  }

  private static <T> T one(Random random, List<T> of) {
    return of.get(random.nextInt(of.size()));
  }

  /** Returns the members of an object, of which some may have the same name. */
  private static String members(Random random, int depth) {
    return IntStream.range(0, 1 + random.nextInt(5))
        .mapToObj(i -> one(random, NAMES) + ":" + value(random, depth))
        .collect(Collectors.joining(","));
  }

  private static String value(Random random, int depth) {
    return switch (random.nextInt(depth > 0 ? 9 : 6)) {
      case 0 -> String.valueOf(random.nextInt(4));
      case 1 -> one(random, List.of("1.5", "-0.0", "1e3", "12345678901234567890"));
      case 2 -> one(random, List.of("\"\"", "\"é\"", "\"a\\u0000\"", "\"\uD83D\uDE00\""));
      case 3 -> one(random, List.of("true", "false", "null"));
      case 4 -> "{}";
      case 5 -> "[]";
      case 6 ->
          IntStream.range(0, 1 + random.nextInt(4))
              .mapToObj(i -> value(random, depth - 1))
              .collect(Collectors.joining(",", "[", "]"));
      default -> "{" + members(random, depth - 1) + "}";
    };
  }

  private static String field(Random random) {
    String first = one(random, List.of("a", "b", "é", "😀\\\\.c", "a\\u0000b", "0"));
    return "\"" + first + one(random, List.of("", "", ".a", ".0", ".b.1", ".0.0", ".é")) + "\"";
  }

  private static String selector(Random random) {
    return IntStream.range(0, 1 + random.nextInt(3))
        .mapToObj(i -> "{" + field(random) + ":" + condition(random) + "}")
        .collect(
            Collectors.joining(",", "{\"" + one(random, List.of("$and", "$or")) + "\":[", "]}"));
  }

  private static String condition(Random random) {
    return switch (random.nextInt(10)) {
      case 0 -> "{\"$exists\":" + random.nextBoolean() + "}";
      case 1 ->
          "{\"$type\":\"" + one(random, List.of("object", "array", "string", "number")) + "\"}";
      case 2 -> "{\"$size\":" + random.nextInt(4) + "}";
      case 3 -> "{\"$elemMatch\":{\"$gte\":" + value(random, 1) + "}}";
      case 4 -> "{\"$ne\":" + value(random, 1) + "}";
      case 5 -> "{\"$gt\":" + value(random, 1) + "}";
      case 6 -> "{\"$lte\":" + value(random, 1) + "}";
      case 7 -> "{\"$in\":[" + value(random, 1) + "," + value(random, 1) + "]}";
      case 8 -> "{\"$not\":{\"$lt\":" + value(random, 0) + "}}";
      default -> "{\"$eq\":" + value(random, 2) + "}";
    };
  }

  private static String document(Random random, int i) {
    StringBuilder json = new StringBuilder("{\"_id\":\"d" + i + "\",\"n\":" + i);
    if (random.nextBoolean()) {
      json.append(",\"o\":{\"a\":").append(random.nextInt()).append(",\"b\":{},\"\":[]}");
    }
    if (random.nextBoolean()) {
      json.append(",\"l\":[1,[2,3.5],{\"x\":null},true]");
    }
    if (random.nextInt(3) == 0) {
      json.append(",\"t\":\"").append("é".repeat(random.nextInt(9_000))).append('"');
    }
    return json.append('}').toString();
  }

  /** What arrays and objects of large documents consist of. */
  private enum Shape {
    MIXED(
        "[".repeat(100)
            + "]".repeat(100)
            + ",\"\\\"a\\u0000\\\\b\\n\\u0001\",\""
            + "\uD83D\uDE00".repeat(40)
            + "\",2.5e-7,1.5e+300,0"),
    MEMBERS("#"),
    LONG_NAMES("1"),
    DEEP_PATHS("{\"b\":{\"a\":".repeat(1_000) + "[1]" + ",\"0\":0},\"a\":1}".repeat(1_000)),
    ONE_STRING("");

    private final String unit;

    Shape(String unit) {
      this.unit = unit;
    }

    /** Returns the members of a document of exactly so many bytes, with the braces. */
    private String members(int bytes) {
      String name = this == LONG_NAMES ? "n".repeat(9_000) : "v";
      int each = unit.getBytes(StandardCharsets.UTF_8).length + 1;
      StringBuilder json = new StringBuilder("{\"z\":1,\"").append(name).append("\":");
      if (this == ONE_STRING) {
        json.append("\"").append("x".repeat(bytes - 1_000)).append("\"");
      } else if (this == MEMBERS) {
        json.append("{\"x\":0");
        for (int i = 0; json.length() < bytes - 100; i++) {
          json.append(",\"").append(Integer.toString(Integer.reverse(i) >>> 1, 36)).append("\":1");
        }
        json.append('}');
      } else {
        int count = (bytes - json.length() - 100) / each;
        json.append('[').append(String.join(",", Collections.nCopies(count, unit))).append(']');
      }
      String body = json.append(",\"filler\":\"").toString();
      return body + "y".repeat(bytes - body.getBytes(StandardCharsets.UTF_8).length - 2) + "\"}";
    }
  }

  /** Those that take the most time and memory, with the most members and the longest paths. */
  @ParameterizedTest
  @EnumSource(
      value = Shape.class,
      names = {"MEMBERS", "DEEP_PATHS"})
  void a_document_of_eight_million_bytes_is_stored(Shape shape) {
    String body = shape.members(LARGEST);
    String id = "n".repeat(400);
    String target = "/inline/" + id;
    Answer written = server.put(target, body);
    assertThat(written.status()).as(written.body()).isEqualTo(201);
    String rev = written.member("rev");
    String document = "{\"_id\":\"%s\",\"_rev\":\"%s\",".formatted(id, rev) + body.substring(1);
    assertThat(server.get(target).body().equals(document + "\n")).isTrue();
    assertThat(bodyRows("inline")).isEqualTo(1 + (LARGEST - 2 + 89_999) / 90_000);
    Answer refused = server.put(target + "?rev=" + rev, shape.members(LARGEST + 1)).expect(413);
    assertThat(refused.member("reason"))
        .isEqualTo("The document has 8000001 bytes of JSON, the limit is 8000000.");

    Answer attached =
        server
            .request("PUT", target + "/file?rev=" + rev)
            .header("Content-Type", "a/b")
            .body(new byte[] {1})
            .send();
    assertThat(attached.status()).as(attached.body()).isEqualTo(201);
    String withAttachment = server.get(target).body();
    assertThat(withAttachment.contains(body.substring(1, body.length() - 1))).isTrue();
    assertThat(withAttachment).contains("\"_attachments\":{\"file\":{");
    assertThat(server.get(target + "?fields=%5B%22z%22%5D").body()).endsWith(",\"z\":1}\n");
    for (String list : List.of("_all_docs", "_changes")) {
      String rows = server.get("/inline/" + list + "?include_docs=true").body();
      assertThat(rows.contains(body.substring(1, body.length() - 1))).as(list).isTrue();
    }
    String query = "{\"selector\":{\"z\":1,\"filler\":{\"$gt\":\"y\"}},\"fields\":[\"_id\"]}";
    assertThat(server.post("/inline/_find", query).body()).contains(id);
    rev = attached.member("rev");
    server.put(target, "{\"_rev\":\"" + rev + "\",\"small\":true}").expect(201);
    assertThat(bodyRows("inline")).isEqualTo(1);
    assertSound();
  }

  @ParameterizedTest
  @EnumSource(Shape.class)
  void a_large_document_of_any_shape_is_taken_wherever_others_are(Shape shape) {
    String body = shape.members(1_020_000);
    String index = "{\"index\":{\"fields\":[\"z\"]},\"ddoc\":\"i\",\"name\":\"i\"}";
    both("POST", "/_index", index);
    both("PUT", "/_local/a", body);
    both("PUT", "/_design/d", body);
    both("POST", "/_bulk_docs", "{\"docs\":[{\"_id\":\"a\"," + body.substring(1) + "]}");
    String replicated = "{\"_id\":\"a\",\"_rev\":\"9-a\"," + body.substring(1);
    both("POST", "/_bulk_docs", "{\"new_edits\":false,\"docs\":[" + replicated + "]}");
    String rev = member(both("PUT", "/b", text(3)));
    both("PUT", "/b?rev=" + rev, body);
    for (String target : List.of("/_local/a", "/_design/d", "/a", "/b")) {
      assertThat(both("GET", target, "").endsWith(body.substring(1) + "\n")).as(target).isTrue();
    }
    String query =
        "{\"selector\":{\"z\":1,\"filler\":{\"$gt\":\"y\"}},\"fields\":[\"_id\"],\"use_index\":\"i\"}";
    assertThat(both("POST", "/_find", query)).contains("\"a\"", "\"b\"");
    assertThat(both("GET", "/a?conflicts=true", "")).contains("\"_conflicts\":[\"1-");
    assertSound();
  }

  /** One side of a conflict has text, the other rows or one row. */
  @Test
  void conflicts_have_leaves_on_both_sides_of_the_border_of_text() {
    int most = 1_000_000 - FRAME;
    List<Integer> lengths = List.of(most + 1, 10, most, most + 1);
    for (int i = 0; i < lengths.size(); i++) {
      String body = text(lengths.get(i)).replace("}", ",\"_id\":\"a\",\"_rev\":\"2-" + i + "\"}");
      both("POST", "/_bulk_docs", "{\"new_edits\":false,\"docs\":[" + body + "]}");
    }
    assertThat(both("GET", "/a?conflicts=true", ""))
        .contains("\"_conflicts\":[\"2-2\",\"2-1\",\"2-0\"]");
    assertThat(bodyRows("rfc004")).isEqualTo(13 + 2 + 11 + 13);
    for (int i = lengths.size() - 1; i >= 0; i--) {
      String shown = both("GET", "/a", "");
      assertThat(shown).startsWith("{\"_id\":\"a\",\"_rev\":\"2-" + i + "\"");
      assertThat(shown.length()).isBetween(lengths.get(i), lengths.get(i) + 100);
      both("DELETE", "/a?rev=2-" + i, "");
    }
    assertThat(bodyRows("inline")).isZero();
    assertSound();
  }

  @Test
  void a_document_of_many_numbers_is_stored_read_in_parts_and_matched() {
    String numbers =
        IntStream.range(0, 83_500)
            .mapToObj(i -> "[" + i + ".125,-" + i + "]")
            .collect(Collectors.joining(",", "[", "]"));
    String body =
        "{\"type\":\"Feature\",\"geometry\":{\"coordinates\":" + numbers + "},\"zone\":7}";
    both("PUT", "/a", body);
    assertThat(bodyRows("inline")).isEqualTo(1 + (body.length() - 2 + 89_999) / 90_000);
    assertThat(both("GET", "/a", "")).contains("[83499.125,-83499]]");
    assertThat(both("GET", "/a?fields=%5B%22zone%22,%22type%22%5D", ""))
        .contains("\"type\":\"Feature\",\"zone\":7}");
    assertThat(both("POST", "/_find", "{\"selector\":{\"zone\":7},\"fields\":[\"type\"]}"))
        .contains("Feature");
    assertThat(both("POST", "/_find", "{\"selector\":{\"zone\":8},\"fields\":[\"type\"]}"))
        .doesNotContain("Feature");
    both("PUT", "/_local/a", body);
    assertThat(both("GET", "/_local/a", "")).contains("[83499.125,-83499]]");
    assertThat(both("GET", "/_all_docs?include_docs=true&descending=true", ""))
        .contains("[83499.125,-83499]]");
    assertSound();
  }

  @Test
  void a_large_design_document_is_understood() {
    both(
        "PUT",
        "/_design/v",
        "{\"filler\":\"" + "x".repeat(1_100_000) + "\",\"language\":\"query\"}");
    String rev = server.get("/inline/_design/v").member("_rev");
    both(
        "PUT",
        "/_design/v?rev=" + rev,
        "{\"filler\":\""
            + "x".repeat(1_100_000)
            + "\",\"validate_doc_update\":{\"newDoc\":{\"n\":2}},\"language\":\"query\",\"views\":{\"i\":{\"map\":"
            + "{\"fields\":{\"n\":\"asc\"}},\"options\":{}}}}");
    assertThat(both("GET", "/_index", "")).contains("{\"n\":\"asc\"}");
    assertThat(both("PUT", "/a", "{\"n\":1}")).contains("\"error\":\"forbidden\"");
    both(
        "POST",
        "/_bulk_docs",
        "{\"new_edits\":false,\"docs\":[{\"_id\":\"_design/v\",\"_rev\":\"9-a\",\"small\":true}]}");
    assertThat(both("PUT", "/a", "{\"n\":1}")).contains("\"ok\":true");
    both("DELETE", "/_design/v?rev=9-a", "");
    assertThat(both("PUT", "/b", "{\"n\":1}")).contains("\"error\":\"forbidden\"");
    assertThat(both("GET", "/_index", "")).contains("{\"n\":\"asc\"}");
    assertSound();
  }

  @Test
  void a_body_of_up_to_a_million_bytes_has_rows() {
    int most = 1_000_000 - FRAME;
    for (int characters : new int[] {most - 1, most, most + 1, most, 3, most + 1, 3}) {
      String rev = server.get("/inline/a").status() == 404 ? "" : "?rev=" + rev("/inline/a");
      both("PUT", "/a" + rev, text(characters));
      int rows = characters > most ? 13 : characters == 3 ? 2 : 11;
      assertThat(bodyRows("rfc004")).isEqualTo(rows);
      assertThat(bodyRows("inline")).isEqualTo(rows == 2 ? 1 : rows);
      assertThat(both("GET", "/a", "")).contains("x".repeat(characters) + "\"}");
      assertSound();
    }
  }

  private String rev(String target) {
    return server.get(target).member("_rev");
  }

  @Test
  void a_chunk_that_is_missing_is_an_error_and_a_finding() {
    server.put("/inline/a", text(1_000_000));
    List<KeyValue> rows = rows("inline", DatabaseSubspace.DOCUMENTS);
    TestDatabase.open(store, "inline")
        .transactions
        .run(
            tx -> {
              tx.clear(rows.get(rows.size() - 1).getKey());
              return null;
            });
    server.get("/inline/a").expect(500);
    server.get("/inline/a?fields=%5B%22w%22%5D").expect(500);
    String find = "{\"selector\":{\"w\":1}}";
    server.request("POST", "/inline/_find").json(find).send().expect(500);
    assertThat(findings()).anyMatch(it -> it.contains("\"a\"") && it.contains("lacks 10006 of"));
  }

  @Test
  void an_inline_row_with_a_row_below_it_is_a_finding_and_an_error_to_all_who_read_that_row() {
    server.put("/inline/a", text(3));
    set(new TupleWriter(8).string("w").toBytes(), new byte[] {0x27});
    server.get("/inline/a?conflicts=true").expect(500);
    assertThat(findings()).anyMatch(it -> it.contains("\"a\"") && it.contains("others below it"));
  }

  @Test
  void an_inline_row_that_does_not_decode_is_an_error_and_a_finding() {
    server.put("/inline/a", text(300));
    byte[] value = rows("inline", DatabaseSubspace.DOCUMENTS).get(0).getValue();
    set(new byte[0], Arrays.copyOf(value, value.length - 1));
    server.get("/inline/a").expect(500);
    server.get("/inline/a?fields=%5B%22v%22%5D").expect(500);
    assertThat(findings()).anyMatch(it -> it.contains("\"a\"") && it.contains("end within"));
  }

  private void set(byte[] path, byte[] value) {
    TestDatabase db = TestDatabase.open(store, "inline");
    byte[] key = rows("inline", DatabaseSubspace.DOCUMENTS).get(0).getKey();
    db.transactions.run(
        tx -> {
          tx.set(new TupleWriter(key).raw(path).toBytes(), value);
          return null;
        });
  }

  private List<String> findings() {
    return new StoreAudit(store, AuditListener.SILENT)
        .run().findings().stream().map(Object::toString).toList();
  }
}
