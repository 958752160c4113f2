package lectus.view;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseRequest;
import lectus.document.edit.InteractiveEdit;
import lectus.document.read.DocumentCache;
import lectus.document.read.DocumentReader;
import lectus.document.testing.Answers;
import lectus.document.testing.Purging;
import lectus.document.testing.TestDatabase;
import lectus.document.write.EditOutcome;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.revision.RevisionId;
import lectus.script.Scripts;
import lectus.script.Scripts.ScriptSettings;
import lectus.script.Scripts.ScriptSettings.EngineChoice;
import lectus.store.Awaiting;
import lectus.store.testing.TestStores;
import lectus.view.ViewCheck.Position;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Views compared with a naive model, and with views that are built anew. */
final class ViewModelTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static Scripts scripts;

  private static final String MAP = "function(doc){doc.k.forEach(function(k){emit(k,doc.v)})}";

  private static final String DESIGN =
      json(
          "{'views':{'m':{'map':'"
              + MAP
              + "'},'s':{'map':'"
              + MAP
              + "','reduce':'_sum'},'j':{'map':'"
              + MAP
              + "','reduce':'function(k,v,r){return r?sum(v):v.length}'}}}");

  private final TestDatabase database = TestDatabase.create(stores.fresh());
  private final Views views = views();
  private final TreeMap<String, Doc> model = new TreeMap<>();
  private final DatabaseRequest asked = DatabaseRequest.byServer(database.name);
  private final FreshBuild fresh = new FreshBuild(database, scripts, DESIGN);

  private record Doc(List<String> keys, int value, RevisionId rev) {}

  private record Row(String key, String id, int value) {}

  private static String json(String singleQuoted) {
    return singleQuoted.replace('\'', '"');
  }

  private Views views() {
    return new Views(
        database.catalogue,
        database.transactions,
        new DocumentReader(database.catalogue, database.transactions, new DocumentCache(0)),
        scripts,
        database.store.tasks(),
        () -> false,
        32 << 20);
  }

  @AfterEach
  void close() {
    views.close();
  }

  @BeforeAll
  static void begin() {
    scripts = new Scripts(new ScriptSettings(EngineChoice.AUTO, 1, 64, 60, 64 << 20));
  }

  @AfterAll
  static void end() {
    scripts.close();
  }

  private String query(String view, Map<String, String> parameters) {
    Views.Prepared prepared = prepared(views, view, parameters);
    views.ready(prepared).join();
    return Answers.whole(views.answer(prepared));
  }

  private Views.Prepared prepared(Views of, String view, Map<String, String> parameters) {
    return of.prepare(asked, "d", view, new ViewArguments(parameters, Optional.empty(), false));
  }

  private static int rank(String key) {
    return switch (key.charAt(0)) {
      case 'n' -> 0;
      case '"' -> 2;
      case '[' -> 3;
      default -> 1;
    };
  }

  private static final Comparator<String> ORDER =
      (a, b) -> {
        if (rank(a) != rank(b)) {
          return Integer.compare(rank(a), rank(b));
        }
        return switch (rank(a)) {
          case 1 -> Integer.compare(Integer.parseInt(a), Integer.parseInt(b));
          case 3 -> {
            String[] x = a.substring(1, a.length() - 1).split(",");
            String[] y = b.substring(1, b.length() - 1).split(",");
            int first = x[0].compareTo(y[0]);
            yield first != 0
                ? first
                : Integer.compare(Integer.parseInt(x[1]), Integer.parseInt(y[1]));
          }
          default -> a.compareTo(b);
        };
      };

  private static String key(Random random) {
    return switch (random.nextInt(8)) {
      case 0 -> "null";
      case 1 -> "\"" + (char) ('a' + random.nextInt(20)) + "\"";
      case 2, 3 -> Integer.toString(random.nextInt(200) - 100);
      default -> "[\"" + (char) ('a' + random.nextInt(6)) + "\"," + random.nextInt(30) + "]";
    };
  }

  private List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    model.forEach((id, doc) -> doc.keys.forEach(key -> rows.add(new Row(key, id, doc.value))));
    rows.sort(Comparator.comparing(Row::key, ORDER).thenComparing(Row::id));
    return rows;
  }

  private void edit(Random random, int edits) {
    Map<String, InteractiveEdit> batch = new LinkedHashMap<>();
    Map<String, Doc> after = new HashMap<>();
    for (int i = 0; i < edits; i++) {
      String id = "doc" + random.nextInt(2 * edits);
      Doc former = model.get(id);
      RevisionId base = former == null ? null : former.rev;
      if (former != null && random.nextInt(4) == 0) {
        batch.put(id, TestDatabase.deletion(id, base));
        after.put(id, null);
      } else {
        List<String> keys = new ArrayList<>();
        for (int k = random.nextInt(5); k > 0; k--) {
          keys.add(key(random));
        }
        int value = random.nextInt(100);
        String body = "{\"k\":[" + String.join(",", keys) + "],\"v\":" + value + "}";
        batch.put(id, TestDatabase.edit(id, base, body));
        after.put(id, new Doc(keys, value, null));
      }
    }
    for (EditOutcome outcome : database.write(List.copyOf(batch.values()))) {
      RevisionId rev = TestDatabase.written(outcome);
      Doc doc = after.get(outcome.id());
      if (doc == null) {
        model.remove(outcome.id());
      } else {
        model.put(outcome.id(), new Doc(doc.keys, doc.value, rev));
      }
    }
  }

  private void purge(Random random) {
    List<String> ids = new ArrayList<>(model.keySet());
    for (int i = 0; i < 5 && !ids.isEmpty(); i++) {
      String id = ids.remove(random.nextInt(ids.size()));
      database.write(Purging.of(id, model.remove(id).rev));
    }
  }

  /** What a query asks for. */
  private record Asked(
      Map<String, String> parameters, boolean descending, String low, String high) {
    boolean has(Row row) {
      return (low == null || ORDER.compare(row.key, low) >= 0)
          && (high == null || ORDER.compare(row.key, high) <= 0);
    }
  }

  private static Asked asked(Random random) {
    Map<String, String> parameters = new HashMap<>();
    String one = random.nextBoolean() ? key(random) : null;
    String other = random.nextBoolean() ? key(random) : null;
    boolean swapped = one != null && other != null && ORDER.compare(one, other) > 0;
    String low = swapped ? other : one;
    String high = swapped ? one : other;
    boolean descending = random.nextBoolean();
    if (low != null) {
      parameters.put(descending ? "endkey" : "startkey", low);
    }
    if (high != null) {
      parameters.put(descending ? "startkey" : "endkey", high);
    }
    if (descending) {
      parameters.put("descending", "true");
    }
    return new Asked(parameters, descending, low, high);
  }

  private void compareRows(Random random) {
    Asked query = asked(random);
    List<Row> all = rows();
    List<Row> expected = new ArrayList<>(all.stream().filter(query::has).toList());
    if (query.descending) {
      Collections.reverse(expected);
    }
    int skip = random.nextInt(3) == 0 ? random.nextInt(all.size() + 2) : 0;
    int limit = random.nextInt(3) == 0 ? random.nextInt(all.size() + 2) : all.size();
    query.parameters.put("skip", "" + skip);
    query.parameters.put("limit", "" + limit);
    JsonObject answer = parse(query("m", query.parameters));
    assertThat(answer.members().get("total_rows").toJson()).isEqualTo("" + all.size());
    if (!expected.isEmpty()) {
      int before =
          query.descending
              ? (int) all.stream().filter(it -> isAbove(it, query)).count()
              : (int) all.stream().filter(it -> isBelow(it, query)).count();
      assertThat(answer.members().get("offset").toJson())
          .isEqualTo("" + Math.min(all.size(), before + skip));
    }
    int from = Math.min(skip, expected.size());
    int to = Math.min(expected.size(), from + limit);
    assertThat(shown(answer))
        .isEqualTo(
            expected.subList(from, to).stream()
                .map(
                    row ->
                        "{\"id\":\""
                            + row.id
                            + "\",\"key\":"
                            + row.key
                            + ",\"value\":"
                            + row.value
                            + "}")
                .toList());
  }

  private static boolean isBelow(Row row, Asked query) {
    return query.low != null && ORDER.compare(row.key, query.low) < 0;
  }

  private static boolean isAbove(Row row, Asked query) {
    return query.high != null && ORDER.compare(row.key, query.high) > 0;
  }

  private static JsonObject parse(String answer) {
    return (JsonObject) JsonValue.parse(answer.getBytes(StandardCharsets.UTF_8));
  }

  private static List<String> shown(JsonObject answer) {
    return ((JsonArray) answer.members().get("rows"))
        .elements().stream().map(JsonValue::toJson).toList();
  }

  private static String groupOf(String key, int level) {
    return level == 0
        ? "null"
        : level == 1 && key.startsWith("[") ? key.substring(0, key.indexOf(',')) + "]" : key;
  }

  private void compareGroups(Random random) {
    Asked query = asked(random);
    int level = random.nextInt(3);
    boolean sums = random.nextBoolean();
    if (level > 0) {
      query.parameters.put("group_level", "" + level);
    }
    Map<String, Integer> groups = new LinkedHashMap<>();
    List<Row> rows = new ArrayList<>(rows().stream().filter(query::has).toList());
    if (query.descending) {
      Collections.reverse(rows);
    }
    rows.forEach(row -> groups.merge(groupOf(row.key, level), sums ? row.value : 1, Integer::sum));
    int skip = random.nextInt(3) == 0 ? random.nextInt(groups.size() + 2) : 0;
    int limit = random.nextInt(3) == 0 ? random.nextInt(groups.size() + 2) : 1_000;
    query.parameters.put("skip", "" + skip);
    query.parameters.put("limit", "" + limit);
    List<String> expected =
        groups.entrySet().stream()
            .skip(skip)
            .limit(limit)
            .map(it -> "{\"key\":" + it.getKey() + ",\"value\":" + it.getValue() + "}")
            .toList();
    assertThat(shown(parse(query(sums ? "s" : "j", query.parameters))))
        .as("%s", query)
        .isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void views_equal_a_naive_model_and_a_fresh_build(long seed) {
    Random random = new Random(seed);
    database.put("_design/d", DESIGN);
    for (int round = 0; round < 6; round++) {
      edit(random, round == 2 ? 900 : 30 + random.nextInt(200));
      if (round % 2 == 1) {
        purge(random);
      }
      if (round == 3) {
        database.catalogue.reshard(database.name, 3);
      }
      for (int i = 0; i < 12; i++) {
        compareRows(random);
        compareGroups(random);
      }
    }
    fresh.assertEqual(true);
  }

  @Test
  void a_database_that_has_documents_already_is_built_in_steps() {
    Random random = new Random(7);
    for (int i = 0; i < 6; i++) {
      edit(random, 900);
    }
    database.put("_design/d", DESIGN);
    for (int i = 0; i < 10; i++) {
      compareRows(random);
      compareGroups(random);
    }
    edit(random, 900);
    compareGroups(random);
    fresh.assertEqual(false);
  }

  /** Several servers move one index while documents are edited, purged, and the shards change. */
  @Test
  void servers_that_update_one_index_at_once_come_to_what_one_makes() throws Exception {
    Random random = new Random(11);
    for (int i = 0; i < 3; i++) {
      edit(random, 900);
    }
    database.put("_design/d", DESIGN);
    AtomicBoolean isOver = new AtomicBoolean();
    ExecutorService servers = Executors.newFixedThreadPool(2);
    List<Future<?>> asking = new ArrayList<>();
    for (int server = 0; server < 2; server++) {
      asking.add(
          servers.submit(
              () -> {
                try (Views own = views()) {
                  while (!isOver.get()) {
                    own.ready(prepared(own, "s", Map.of())).join();
                  }
                }
              }));
    }
    for (int round = 0; round < 25; round++) {
      edit(random, 120);
      purge(random);
      if (round == 8) {
        database.catalogue.reshard(database.name, 4);
      }
    }
    isOver.set(true);
    for (Future<?> each : asking) {
      each.get();
    }
    servers.shutdown();
    compareRows(random);
    compareGroups(random);
    fresh.assertEqual(true);
  }

  /** Tasks of changes shards write the rows of documents that are edited and purged meanwhile. */
  @ParameterizedTest
  @ValueSource(longs = {21, 22})
  void a_build_by_tasks_under_writers_is_what_a_fresh_one_is(long seed) throws Exception {
    Random random = new Random(seed);
    database.catalogue.reshard(database.name, 3);
    for (int i = 0; i < 4; i++) {
      edit(random, 900);
    }
    database.catalogue.reshard(database.name, 4);
    for (int i = 0; i < 3; i++) {
      edit(random, 900);
    }
    database.put("_design/d", DESIGN);
    ExecutorService servers = Executors.newFixedThreadPool(2);
    List<Future<?>> building = new ArrayList<>();
    for (int server = 0; server < 2; server++) {
      building.add(
          servers.submit(
              () -> {
                try (Views own = views()) {
                  own.ready(prepared(own, "s", Map.of())).join();
                }
              }));
    }
    int rounds = 0;
    while (!building.stream().allMatch(Future::isDone)) {
      edit(random, 60);
      purge(random);
      if (rounds++ == 2) {
        database.catalogue.reshard(database.name, 2);
      }
    }
    for (Future<?> each : building) {
      each.get();
    }
    servers.shutdown();
    compareRows(random);
    compareGroups(random);
    fresh.assertEqual(true);
  }

  /** Ten thousand rows of one document are taken, one more is not. */
  @Test
  void a_document_that_emits_too_much_is_refused_by_name() {
    database.put(
        "_design/d",
        json("{'views':{'m':{'map':'function(doc){for(var i=0;i<doc.n;i++)emit(i)}'}}}"));
    database.put("a", "{\"n\":" + EmittedRows.MAX_EMITTED + "}");
    RevisionId more = database.put("b", "{\"n\":" + (EmittedRows.MAX_EMITTED + 1) + "}");
    assertThat(query("m", Map.of("limit", "0")))
        .contains("\"total_rows\":" + EmittedRows.MAX_EMITTED + ",");
    assertThat(views.info(asked, "d").toString())
        .contains(json("'refused':[{'id':'b','reason':'It emits more than 10000 rows.'}]"));
    database.put("b", more, "{\"n\":1}");
    assertThat(query("m", Map.of("limit", "0")))
        .contains("\"total_rows\":" + (EmittedRows.MAX_EMITTED + 1) + ",");
    assertThat(views.info(asked, "d").toString()).doesNotContain("refused");
  }

  /** More than a child may answer. */
  @Test
  void a_document_whose_map_emits_more_than_can_be_told_is_refused_by_name() {
    database.put(
        "_design/d",
        json("{'views':{'m':{'map':'function(doc){for(var i=0;i<99;i++)emit(i,doc.s)}'}}}"));
    database.put("a", json("{'s':'" + "x".repeat(60_000) + "'}"));
    database.put("b", json("{'s':'y'}"));
    assertThat(query("m", Map.of("limit", "0"))).contains("\"total_rows\":99,");
    assertThat(views.info(asked, "d").toString()).contains(json("'refused':[{'id':'a','reason':'"));
  }

  private List<String> wrong() {
    List<String> wrong = new ArrayList<>();
    Optional<Position> at = Optional.of(Position.BEGIN);
    while (at.isPresent()) {
      Position from = at.get();
      ViewCheck.Part part =
          database.read(
              (tx, db) -> {
                ViewCheck check =
                    ViewCheck.of(tx, db, ViewCheck.indexes(tx, db).get(0)).orElseThrow();
                return check.check(tx, from, check.reductions(tx));
              });
      wrong.addAll(part.wrong());
      at = part.next();
    }
    return wrong;
  }

  private interface Damage {
    void to(Transaction tx, DatabaseHandle db, ViewRows rows, KeyValue row);
  }

  /** Does something to the first row of a level. */
  private void damage(int level, Damage damage) {
    database.transactions.run(
        tx -> {
          DatabaseHandle db = database.catalogue.currentForWrites(tx, database.name);
          ViewRows rows = new ViewRows(db, ViewCheck.indexes(tx, db).get(0), false);
          Range range = rows.range(1, level, ViewTree.FIRST, Optional.empty());
          damage.to(tx, db, rows, Awaiting.await(tx.getRange(range, 1).asList()).get(0));
          return true;
        });
  }

  @Test
  void a_check_finds_rows_and_nodes_that_do_not_agree() {
    edit(new Random(5), 400);
    database.put("_design/d", DESIGN);
    query("s", Map.of());
    assertThat(wrong()).isEmpty();
    KeyValue[] was = new KeyValue[1];

    damage(
        0,
        (tx, db, rows, row) -> {
          was[0] = row;
          tx.clear(row.getKey());
        });
    assertThat(wrong()).anyMatch(it -> it.contains("lacks a row of the document"));
    assertThat(wrong()).anyMatch(it -> it.contains("a node of level 1"));
    damage(0, (tx, db, rows, row) -> tx.set(was[0].getKey(), was[0].getValue()));
    assertThat(wrong()).isEmpty();

    damage(
        0,
        (tx, db, rows, row) ->
            rows.clearPlaces(tx, ViewRows.parts(rows.placeOf(1, 0, row)).docId()));
    assertThat(wrong()).anyMatch(it -> it.contains("has a row that the document"));
    database.transactions.run(
        tx -> {
          DatabaseHandle db = database.catalogue.currentForWrites(tx, database.name);
          ViewCheck.of(tx, db, ViewCheck.indexes(tx, db).get(0)).orElseThrow().remove(tx);
          return true;
        });
    query("s", Map.of());
    assertThat(wrong()).isEmpty();

    damage(
        1,
        (tx, db, rows, row) -> {
          ViewRows.Summary node = ViewRows.summary(row.getValue());
          was[0] = row;
          tx.set(
              row.getKey(),
              ViewRows.encode(
                  new ViewRows.Summary(node.rows(), node.bytes(), Reducer.value("-1"))));
        });
    assertThat(wrong())
        .contains("a node of level 1 of the index of views has a wrong reduction")
        .contains("a node of level 2 of the index of views has a wrong reduction");
    damage(1, (tx, db, rows, row) -> tx.set(was[0].getKey(), was[0].getValue()));
    assertThat(wrong()).isEmpty();

    damage(1, (tx, db, rows, row) -> tx.clear(row.getKey()));
    assertThat(wrong()).anyMatch(it -> it.contains("lacks a node of level 1"));
    database.transactions.run(
        tx -> {
          DatabaseHandle db = database.catalogue.currentForWrites(tx, database.name);
          ViewCheck.of(tx, db, ViewCheck.indexes(tx, db).get(0)).orElseThrow().remove(tx);
          return true;
        });
  }
}
