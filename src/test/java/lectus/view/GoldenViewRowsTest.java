package lectus.view;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.changes.log.GoneSubspace;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.document.testing.TestDatabase;
import lectus.json.JsonValue;
import lectus.store.LeaseSubspace.Claim;
import lectus.store.Store;
import lectus.store.testing.GoldenRows;
import lectus.store.testing.TestStores;
import lectus.store.testing.WrittenRows;
import lectus.view.BuildTasks.OfRange;
import lectus.view.BuildTasks.OfShard;
import lectus.view.BuildTasks.Task;
import lectus.view.Reducer.ReducedRow;
import lectus.view.ViewRows.Emitted;
import lectus.view.ViewRows.Place;
import lectus.view.ViewRows.Summary;
import lectus.view.ViewsSubspace.Phase;
import lectus.view.ViewsSubspace.Registered;
import lectus.view.ViewsSubspace.Repaired;
import lectus.view.ViewsSubspace.State;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The exact bytes of views. */
final class GoldenViewRowsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final byte[] COMMIT = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
  private static final long SALT = 0x1122334455667788L;

  private final Store store = stores.fresh();
  private final TestDatabase test = TestDatabase.create(store);
  private final DatabaseHandle db = test.catalogue.open(test.name);

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void what_is_gone_and_who_follows() {
    GoneSubspace gone = new GoneSubspace(db);
    GoneSubspace.Image image =
        new GoneSubspace.Image("nightly", true, 77, Sequence.of(0, COMMIT, 2));
    WrittenRows written =
        WrittenRows.of(
            store,
            DatabaseSubspace.GONE.range(db.prefix()),
            tx -> {
              gone.register(tx, 300);
              gone.insert(tx, 2, "a");
              gone.follow(tx, image);
              gone.noteLocal(tx, "_local/l");
            });
    GoldenRows.of("GoneSubspace", db.prefix(), written.stamp()).assertAre(written.rows());
    List<GoneSubspace.Gone> found =
        test.read((tx, it) -> gone.after(tx, Optional.empty(), 9).join());
    assertThat(found)
        .containsExactly(
            new GoneSubspace.Gone(Sequence.of(db.incarnation(), written.stamp(), 2), "a"));
    boolean isFollowed = test.read((tx, it) -> gone.isFollowed(tx));
    assertThat(isFollowed).isTrue();
    assertThat(test.<List<?>>read((tx, it) -> gone.images(tx))).isEqualTo(List.of(image));
    assertThat(test.<List<?>>read((tx, it) -> gone.writtenLocals(tx, "", 9)))
        .isEqualTo(
            List.of(
                new GoneSubspace.Written(
                    Sequence.of(db.incarnation(), written.stamp(), 0), "_local/l")));
  }

  @Test
  void indexes_and_their_states() {
    ViewsSubspace views = new ViewsSubspace(db);
    Registered index = new Registered("00112233445566778899aabbccddeeff", 3, SALT, 2, true);
    Sequence upTo = Sequence.of(0, COMMIT, 2);
    Repaired place = new Repaired(1, 2, new byte[] {1, 2});
    State repair = new State(Phase.REPAIR, Optional.of(upTo), Optional.of(place));
    State gone = State.gone(upTo, Optional.of(upTo));
    List<State> states =
        List.of(
            State.NEW,
            State.of(Phase.SETTLED, upTo),
            State.of(Phase.BUILDING, upTo),
            repair,
            gone,
            State.of(Phase.ROWS, upTo),
            State.of(Phase.NODES, upTo),
            State.of(Phase.SETTLED, upTo).beside(new byte[] {7}).beside(new byte[] {8}));
    WrittenRows written =
        WrittenRows.of(
            store,
            DatabaseSubspace.VIEWS.range(db.prefix()),
            tx -> {
              views.put(tx, index);
              for (int i = 0; i < states.size(); i++) {
                views.write(tx, i, states.get(i));
              }
            });
    GoldenRows.of("ViewsSubspace", db.prefix(), written.stamp()).assertAre(written.rows());
    Optional<Registered> found = test.read((tx, it) -> views.find(tx, index.signature()).join());
    assertThat(found).contains(index);
    for (int i = 0; i < states.size(); i++) {
      int number = i;
      Optional<State> state = test.read((tx, it) -> views.read(tx, number).join());
      assertThat(state).contains(states.get(i));
    }
  }

  @Test
  void tasks() {
    BuildTasks tasks = new BuildTasks(db, 3);
    Claim claim = new Claim(utf8("0123456789abcdef"), 77);
    Optional<Sequence> last = Optional.of(Sequence.of(0, COMMIT, 2));
    byte[] place = new ViewRows(db, 3, false).place(new byte[] {5, 0, 7}, "a", 1);
    List<Task> all =
        List.of(
            new Task(new OfShard(new ShardId("0"), Optional.empty()), false, claim),
            new Task(new OfShard(new ShardId("1"), last), false, claim),
            new Task(new OfShard(new ShardId("2"), last), true, claim),
            Task.open(OfRange.of(1, ViewTree.FIRST)),
            new Task(OfRange.of(1, place).at(2, place), false, claim));
    WrittenRows written =
        WrittenRows.of(
            store,
            DatabaseSubspace.VIEWS.range(db.prefix()),
            tx -> all.forEach(it -> tasks.put(tx, it)));
    GoldenRows.of("BuildTasks", db.prefix(), written.stamp()).assertAre(written.rows());
    for (Task task : all) {
      boolean isStill = test.read((tx, it) -> tasks.isStill(tx, task));
      assertThat(isStill).isTrue();
    }
    List<Task> read = test.read((tx, it) -> tasks.all(tx));
    assertThat(((OfShard) read.get(1).work()).last()).isEqualTo(last);
    assertThat(((OfRange) read.get(3).work()).end().orElseThrow()).isEqualTo(place);
    assertThat(((OfRange) read.get(4).work()).level()).isEqualTo(2);
    assertThat(((OfRange) read.get(4).work()).end()).isEmpty();
  }

  @Test
  void rows_and_nodes() {
    ViewRows rows = new ViewRows(db, 3, false);
    byte[] place = rows.place(new byte[] {5, 0, 7}, "a", 1);
    Emitted emitted = new Emitted(utf8("[1]"), utf8("null"));
    Summary node = new Summary(70, 7_000, Reducer.value("3"));
    List<Place> places = List.of(new Place(1, place));
    WrittenRows written =
        WrittenRows.of(
            store,
            DatabaseSubspace.VIEW_ROWS.range(db.prefix()),
            tx -> {
              rows.putPlaces(tx, "a", places);
              rows.putRefusal(tx, "b", Optional.of(ViewRows.Refusal.forNow("why")));
              rows.put(tx, 1, 0, place, Optional.of(ViewRows.encode(emitted)));
              rows.put(tx, 1, 1, place, Optional.of(ViewRows.encode(node)));
              rows.put(tx, 1, 2, ViewTree.FIRST, Optional.of(ViewRows.encode(node)));
              rows.mark(tx, 1, place, true);
            });
    GoldenRows golden = GoldenRows.of("ViewRows", db.prefix(), written.stamp());
    golden.assertAre(written.rows());
    List<Place> found = test.read((tx, it) -> rows.places(tx, "a").join());
    assertThat(found.stream().map(Place::key)).containsExactly(place);
    List<ViewRows.Refused> refused = test.read((tx, it) -> rows.refused(tx, 9));
    assertThat(refused).containsExactly(new ViewRows.Refused("b", new ViewRows.Refusal("why", 3)));
    assertThat(ViewRows.emitted(golden.row("a row").getValue()).key()).isEqualTo(emitted.key());
    assertThat(ViewRows.summary(golden.row("a node").getValue()).rows()).isEqualTo(70);
    assertThat(ViewRows.parts(rows.placeOf(1, 1, golden.row("a node"))).docId()).isEqualTo("a");
    byte[] ofPartition = new ViewRows(db, 3, true).place(new byte[] {1}, "p:a", 0);
    assertThat(ViewRows.parts(ofPartition).partition()).contains("p");
  }

  @Test
  void sort_keys() {
    List<KeyValue> keys = new ArrayList<>();
    for (String key :
        List.of("null", "false", "true", "-1.5", "\"a\"", "[1,[]]", "{\"b\":1,\"a\":{}}")) {
      for (boolean isRaw : List.of(false, true)) {
        keys.add(new KeyValue(new byte[0], EmittedKey.of(JsonValue.parse(utf8(key)), isRaw)));
      }
    }
    GoldenRows.of("EmittedKey").assertAre(keys);
    byte[] array = EmittedKey.of(JsonValue.parse(utf8("[1,{\"a\":[\"x\"]},\"y\"]")), false);
    byte[] begin = EmittedKey.of(JsonValue.parse(utf8("[1,{\"a\":[\"x\"]}]")), false);
    assertThat(EmittedKey.groupEnd(array, 2)).isEqualTo(begin.length - 1);
    assertThat(EmittedKey.groupEnd(begin, 2)).isEqualTo(begin.length - 1);
  }

  /** A hundred thousand places, of which about one in 64 begins a node. */
  @Test
  void levels_of_places() {
    ViewTree tree = new ViewTree(new ViewRows(db, 3, false), 0, SALT, Reducer.none());
    List<KeyValue> first = new ArrayList<>();
    int[] counts = new int[ViewTree.TOP + 1];
    for (int i = 0; i < 100_000; i++) {
      byte[] place = utf8("place " + i);
      int level = tree.levelOf(place);
      if (counts[level]++ == 0) {
        first.add(new KeyValue(place, new byte[] {(byte) level}));
      }
    }
    GoldenRows.of("ViewTree").assertAre(first);
    assertThat(counts[1]).isBetween(1_400, 1_700);
    assertThat(tree.levelOf(ViewTree.FIRST)).isEqualTo(ViewTree.TOP);
  }

  @Test
  void reductions() {
    List<KeyValue> rows = new ArrayList<>();
    for (String name : List.of("_sum", "_count", "_stats", "_approx_count_distinct", "_top_1")) {
      byte[] reduction =
          BuiltInReduces.named(name)
              .orElseThrow()
              .reduce(
                  List.of(
                      List.of(
                          new ReducedRow(new Emitted(utf8("1"), utf8("2")), ViewTree.FIRST),
                          new ReducedRow(new Emitted(utf8("2"), utf8("0.5")), ViewTree.FIRST))))
              .get(0);
      rows.add(new KeyValue(new byte[0], reduction));
    }
    rows.add(new KeyValue(new byte[0], Reducer.failed("e", "r")));
    GoldenRows.of("Reducer").assertAre(rows);
  }
}
