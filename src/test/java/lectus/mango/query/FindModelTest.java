package lectus.mango.query;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.regex.Pattern;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseRequest;
import lectus.derived.Selector;
import lectus.derived.SortKey;
import lectus.derived.rows.FillingJobs;
import lectus.document.PagedBody;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.ExplodedBody;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.LeafList;
import lectus.json.LeafView;
import lectus.revision.RevisionId;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** With any index or none, a query finds what its selector matches, in the order asked for. */
final class FindModelTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final Pattern BOOKMARK = Pattern.compile("\"bookmark\": \"([^\"]*)\"");

  private static final Pattern ID = Pattern.compile("\"_id\":\"([^\"]*)\"");

  /** An index has only the beginning of it. */
  private static final String LONG = "'" + "aé ".repeat(1_000);

  private static final String[] VALUES = {
    "null",
    "false",
    "true",
    "-1",
    "0",
    "1",
    "1.5",
    "2",
    "10",
    "1e30",
    "''",
    "'a'",
    "'A'",
    "'ab'",
    "'ä'",
    "'b'",
    "'a b'",
    "'10'",
    "[]",
    "[1]",
    "['a']",
    "[1,2]",
    "{}",
    "{'x':1}",
    "{'x':2}",
    "9007199254740992",
    "9007199254740993",
    "9007199254740992.0",
    "-9007199254740993",
    "'a\u0308'",
    "'日本'",
    "'\ud83d\ude42'",
    "'\uffff'",
    "[[1],{'x':1}]",
    "[null]",
    "{'x':[1,2]}",
    LONG + "1'",
    LONG + "2'"
  };

  private static final String[] TESTS = {
    "'$regex':'^a'",
    "'$regex':'b$'",
    "'$regex':'^(a|A)b?'",
    "'$size':1",
    "'$type':'number'",
    "'$type':'string'",
    "'$mod':[2,1]",
    "'$all':[1]",
    "'$elemMatch':{'$gt':0}",
    "'$elemMatch':{'x':1}",
    "'$allMatch':{'$lte':2}",
    "'$allMatch':{'$gt':0}",
    "'$keyMapMatch':{'$eq':'x'}",
    "'$not':{'$regex':'a'}"
  };

  private final Store store = stores.fresh();
  private final TestDatabase db = TestDatabase.create(store);
  private final Queries queries = queries(db);
  private final Map<String, ExplodedBody> bodies = new LinkedHashMap<>();

  private static Queries queries(TestDatabase database) {
    return new Queries(
        database.catalogue,
        database.transactions,
        new FillingJobs(database.store.rootPrefix()),
        new QueryMetrics());
  }

  private static byte[] utf8(String json) {
    return json.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
  }

  private void put(String id, String json) {
    String body = json.replace('\'', '"');
    db.put(id, body);
    bodies.put(id, TestDatabase.edit(id, null, body).body());
  }

  private static String value(Random random) {
    return VALUES[random.nextInt(VALUES.length)];
  }

  private static String condition(Random random) {
    String value = value(random);
    return switch (random.nextInt(13)) {
      case 0 -> value.equals("{}") ? "1" : value.startsWith("{") ? "{'$eq':" + value + "}" : value;
      case 1 -> "{'$lt':" + value + "}";
      case 2 -> "{'$lte':" + value + "}";
      case 3 -> "{'$gt':" + value + "}";
      case 4 -> "{'$gte':" + value + ",'$lt':" + value(random) + "}";
      case 5 -> "{'$in':[" + value + "," + value(random) + "]}";
      case 6 -> "{'$ne':" + value + "}";
      case 7 -> "{'$exists':" + random.nextBoolean() + "}";
      case 8 -> "{'$beginsWith':'" + "aä b1".charAt(random.nextInt(5)) + "'}";
      case 9 -> "{'$nin':[" + value + "," + value(random) + "]}";
      case 10 -> "{" + TESTS[random.nextInt(TESTS.length)] + "}";
      case 11 -> "{" + TESTS[random.nextInt(TESTS.length)] + ",'$gte':" + value + "}";
      default -> "{'$not':{'$gt':" + value + "}}";
    };
  }

  private static String selector(Random random, int depth) {
    if (depth > 0 && random.nextInt(3) == 0) {
      String operator = List.of("$and", "$or", "$or", "$nor").get(random.nextInt(4));
      return "{'"
          + operator
          + "':["
          + selector(random, depth - 1)
          + ","
          + selector(random, depth - 1)
          + "]"
          + (random.nextBoolean() ? ",'b':" + condition(random) : "")
          + "}";
    }
    return random.nextBoolean()
        ? "{'a':" + condition(random) + "}"
        : "{'a':" + condition(random) + ",'b':" + condition(random) + "}";
  }

  /** Some queries need no more than an index has, others whole documents. */
  private static String shown(int number) {
    return List.of(",'fields':['_id','a']}", ",'fields':['_id','c']}", "}").get(number % 3);
  }

  private List<String> ids(String query) {
    return ids(ID, answer(query));
  }

  private static List<String> ids(Pattern pattern, String answer) {
    return pattern.matcher(answer).results().map(it -> it.group(1)).toList();
  }

  private String answer(String query) {
    return text(queries.find(DatabaseRequest.byServer(db.name), utf8(query), Optional.empty()));
  }

  private static String text(PagedBody answer) {
    JsonBuffer out = new JsonBuffer(1_024);
    while (answer.appendNext(out)) {
      // The parts are joined.
    }
    return out.toString();
  }

  private List<String> expected(String selector) {
    return matching(selector, bodies);
  }

  private static List<String> matching(String selector, Map<String, ExplodedBody> documents) {
    Selector compiled = Selector.compile(JsonValue.parse(utf8(selector)));
    List<String> matching = new ArrayList<>();
    documents.forEach(
        (id, body) -> {
          if (compiled.matches(LeafList.of(body).root(), id)) {
            matching.add(id);
          }
        });
    return matching;
  }

  private void index(String name, String... fields) {
    partial(name, "{}", fields);
  }

  private void partial(String name, String filter, String... fields) {
    db.put("_design/" + name, design(filter, fields));
  }

  private static String design(String filter, String... fields) {
    String names = "'" + String.join("','", fields) + "'";
    String directions = "'" + String.join("':'asc','", fields) + "':'asc'";
    return ("{'language':'query','views':{'v':{'map':{'fields':{"
            + directions
            + "},'partial_filter_selector':"
            + filter
            + "},'reduce':'_count','options':{'def':{'fields':["
            + names
            + "]}}}}}")
        .replace('\'', '"');
  }

  /** The rest of the answer is never taken from the other index, whose rows it would leave out. */
  @Test
  void an_index_that_is_made_anew_ends_no_query_early() {
    List<Edit> edits = new ArrayList<>();
    for (int i = 0; i < 3_000; i++) {
      edits.add(TestDatabase.edit("d" + i, null, "{\"a\":" + i + "}"));
    }
    db.write(edits);
    index("x", "a");
    RevisionId made = db.put("_design/y", design("{}", "a"));
    String query = "{'selector':{'a':{'$gte':0}},'limit':3000,'use_index':'y'}";
    PagedBody answer =
        queries.find(DatabaseRequest.byServer(db.name), utf8(query), Optional.empty());
    JsonBuffer out = new JsonBuffer(1_024);
    assertThat(answer.appendNext(out)).isTrue();
    db.delete("_design/y", made);
    index("y", "a");

    try {
      while (answer.appendNext(out)) {
        // The parts are joined.
      }
      assertThat(ids(ID, out.toString())).hasSize(3_000);
    } catch (LectusException failure) {
      assertThat(failure.error()).isInstanceOf(LectusError.Unavailable.class);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void every_way_finds_the_same(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 60; i++) {
      String a = random.nextInt(8) == 0 ? "" : "'a':" + value(random) + ",";
      put("d" + i, "{" + a + (random.nextInt(5) == 0 ? "'c':1" : "'b':" + value(random)) + "}");
    }
    index("a", "a");
    index("ab", "a", "b");
    index("b", "b");
    partial("p", "{'b':{'$gt':1}}", "a");
    for (int i = 0; i < 150; i++) {
      String selector = selector(random, 2);
      List<String> expected = expected(selector);
      for (String index : List.of("none", "a", "ab", "b")) {
        String query = "{'selector':" + selector + ",'limit':1000,'use_index':'" + index + "'";
        assertThat(ids(query + shown(i)))
            .as("%s with %s", selector, index)
            .containsExactlyInAnyOrderElementsOf(expected);
      }
      String narrower = "{'$and':[" + selector + ",{'b':{'$gt':1}}]}";
      String query = "{'selector':" + narrower + ",'limit':1000,'use_index':'p'";
      assertThat(ids(query + shown(i)))
          .as("%s with a partial index", narrower)
          .containsExactlyInAnyOrderElementsOf(expected(narrower));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {21, 22})
  void pages_show_what_stays_once_and_in_order_while_documents_change(long seed) {
    Random random = new Random(seed);
    Map<String, RevisionId> changing = new LinkedHashMap<>();
    for (int i = 0; i < 90; i++) {
      String json = "{'a':" + value(random) + ",'b':" + random.nextInt(3) + "}";
      if (i % 3 == 0) {
        changing.put("c" + i, db.put("c" + i, json.replace('\'', '"')));
      } else {
        put("d" + i, json);
      }
    }
    index("a", "a");
    for (String sort : List.of("", "'sort':[{'a':'asc'}],", "'sort':[{'a':'desc'}],")) {
      for (String selector : List.of("{'a':{'$gte':null}}", "{'b':{'$gt':0}}")) {
        String query = "{'selector':" + selector + "," + sort + "'limit':";
        List<String> whole = staying(ids(query + "1000}"));
        List<String> paged = new ArrayList<>();
        String bookmark = "nil";
        List<String> page;
        do {
          String answer = answer(query + "7,'bookmark':'" + bookmark + "'}");
          bookmark = BOOKMARK.matcher(answer).results().findFirst().orElseThrow().group(1);
          page = ids(ID, answer);
          paged.addAll(page);
          changing.replaceAll(
              (id, revision) ->
                  random.nextInt(9) == 0
                      ? db.put(
                          id, revision, ("{'a':" + value(random) + ",'b':1}").replace('\'', '"'))
                      : revision);
        } while (!page.isEmpty());
        assertThat(staying(paged)).as(query).isEqualTo(whole).isNotEmpty();
      }
    }
  }

  private static List<String> staying(List<String> ids) {
    return ids.stream().filter(id -> id.startsWith("d")).toList();
  }

  @ParameterizedTest
  @ValueSource(longs = 31)
  void a_partition_has_its_documents_and_no_others(long seed) {
    Random random = new Random(seed);
    TestDatabase partitioned = TestDatabase.partitioned(stores.fresh());
    Queries ofPartitions = queries(partitioned);
    Map<String, ExplodedBody> all = new LinkedHashMap<>();
    for (int i = 0; i < 60; i++) {
      String body = ("{'a':" + value(random) + ",'b':1}").replace('\'', '"');
      String id = "p" + i % 3 + ":" + i;
      partitioned.put(id, body);
      all.put(id, TestDatabase.edit(id, null, body).body());
    }
    partitioned.put("_design/a", design("{}", "a"));
    for (int i = 0; i < 60; i++) {
      String selector = "{'a':" + condition(random) + "}";
      String partition = "p" + i % 3;
      String query = "{'selector':" + selector + ",'limit':1000}";
      DatabaseRequest asked = DatabaseRequest.byServer(partitioned.name);
      assertThat(ids(ID, text(ofPartitions.find(asked, utf8(query), Optional.of(partition)))))
          .as("%s of %s", selector, partition)
          .containsExactlyInAnyOrderElementsOf(
              matching(selector, all).stream()
                  .filter(id -> id.startsWith(partition + ":"))
                  .toList());
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12})
  void an_index_sorts_both_ways(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 60; i++) {
      put("d" + i, "{'a':" + value(random) + ",'b':" + i % 3 + "}");
    }
    index("a", "a");
    for (String selector :
        List.of("{'a':{'$gte':null}}", "{'b':{'$gt':0}}", "{'a':{'$in':[1,'a',[1]]}}")) {
      String query = "{'selector':" + selector + ",'limit':1000,'sort':[{'a':";
      List<String> up = ids(query + "'asc'}]}");
      List<String> down = new ArrayList<>(ids(query + "'desc'}]}"));

      assertThat(new TreeSet<>(up)).isEqualTo(new TreeSet<>(expected(selector)));
      Collections.reverse(down);
      assertThat(down).isEqualTo(up);
      assertThat(up.stream().map(this::sortKey)).isSorted();
    }
  }

  private String sortKey(String id) {
    LeafView value = LeafList.of(bodies.get(id)).root().child(LeafView.Step.of("a"));
    return new String(SortKey.of(value, 1_000).bytes(), StandardCharsets.ISO_8859_1);
  }
}
