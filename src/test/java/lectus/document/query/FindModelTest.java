package lectus.document.query;

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
import lectus.database.AskedDatabase;
import lectus.document.PagedBody;
import lectus.document.index.FormerDesigns;
import lectus.document.testing.TestDatabase;
import lectus.json.ExplodedBody;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.LeafList;
import lectus.json.LeafView;
import lectus.selector.Selector;
import lectus.selector.SortKey;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** With any index or none, a query finds what its selector matches, in the order asked for. */
final class FindModelTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final Pattern ID = Pattern.compile("\"_id\":\"([^\"]*)\"");

  private static final String[] VALUES = {
    "null", "false", "true", "-1", "0", "1", "1.5", "2", "10", "1e30", "''", "'a'", "'A'", "'ab'",
    "'ä'", "'b'", "'a b'", "'10'", "[]", "[1]", "['a']", "[1,2]", "{}", "{'x':1}", "{'x':2}"
  };

  private final Store store = stores.fresh();
  private final TestDatabase db = TestDatabase.create(store);
  private final Queries queries =
      new Queries(
          db.catalogue,
          db.transactions,
          new FormerDesigns(db.catalogue, db.transactions, store.rootPrefix()));
  private final Map<String, ExplodedBody> bodies = new LinkedHashMap<>();

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
    return switch (random.nextInt(10)) {
      case 0 -> value.equals("{}") ? "1" : value.startsWith("{") ? "{'$eq':" + value + "}" : value;
      case 1 -> "{'$lt':" + value + "}";
      case 2 -> "{'$lte':" + value + "}";
      case 3 -> "{'$gt':" + value + "}";
      case 4 -> "{'$gte':" + value + ",'$lt':" + value(random) + "}";
      case 5 -> "{'$in':[" + value + "," + value(random) + "]}";
      case 6 -> "{'$ne':" + value + "}";
      case 7 -> "{'$exists':" + random.nextBoolean() + "}";
      case 8 -> "{'$beginsWith':'" + "aä b1".charAt(random.nextInt(5)) + "'}";
      default -> "{'$not':{'$gt':" + value + "}}";
    };
  }

  private static String selector(Random random, int depth) {
    if (depth > 0 && random.nextInt(3) == 0) {
      String operator = random.nextInt(3) == 0 ? "$and" : "$or";
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

  private List<String> ids(String query) {
    PagedBody answer = queries.find(AskedDatabase.byServer(db.name), utf8(query), Optional.empty());
    JsonBuffer out = new JsonBuffer(1_024);
    while (answer.appendNext(out)) {
      // The parts are joined.
    }
    return ID.matcher(out.toString()).results().map(it -> it.group(1)).toList();
  }

  private List<String> expected(String selector) {
    Selector compiled = Selector.compile(JsonValue.parse(utf8(selector)));
    List<String> matching = new ArrayList<>();
    bodies.forEach(
        (id, body) -> {
          if (compiled.matches(LeafList.of(body).root(), id)) {
            matching.add(id);
          }
        });
    return matching;
  }

  private void index(String name, String... fields) {
    String names = "'" + String.join("','", fields) + "'";
    String directions = "'" + String.join("':'asc','", fields) + "':'asc'";
    db.put(
        "_design/" + name,
        ("{'language':'query','views':{'v':{'map':{'fields':{"
                + directions
                + "}},'reduce':'_count','options':{'def':{'fields':["
                + names
                + "]}}}}}")
            .replace('\'', '"'));
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
    for (int i = 0; i < 150; i++) {
      String selector = selector(random, 2);
      List<String> expected = expected(selector);
      for (String index : List.of("none", "a", "ab", "b")) {
        String query = "{'selector':" + selector + ",'limit':1000,'use_index':'" + index + "',";
        assertThat(ids(query + "'fields':['_id','a']}"))
            .as("%s with %s", selector, index)
            .containsExactlyInAnyOrderElementsOf(expected);
      }
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
