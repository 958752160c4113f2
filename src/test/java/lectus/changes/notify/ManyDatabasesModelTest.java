package lectus.changes.notify;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.Compactions;
import lectus.changes.log.StoreDatabases;
import lectus.changes.notify.CandidateQueue.CandidateMemory;
import lectus.changes.notify.ManyDatabases.ScanLimits;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.FeedRights;
import lectus.changes.page.LivePage;
import lectus.changes.page.LiveSource;
import lectus.changes.page.Rows;
import lectus.changes.page.Since;
import lectus.changes.testing.MovedDatabase;
import lectus.changes.testing.ToldByHand;
import lectus.database.DatabaseName;
import lectus.database.Sequence;
import lectus.database.UserContext;
import lectus.document.RowParts.PageLimits;
import lectus.store.Store;
import lectus.store.WrappedTransactions;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Readers of many databases at random positions, alongside random writes, creations, deletions,
 * databases that come back or from another store, reshardings and compactions. Each keeps a copy of
 * what it receives. The copy must become what the store has, row by row, in order and without
 * repetition.
 */
final class ManyDatabasesModelTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final Pattern ROW = Pattern.compile("\"seq\":\"([^\"]*)\",\"id\":\"([^\"]*)\"");
  private static final List<String> NAMES =
      List.of("user-a", "user-b", "user-c", "user-d", "user-e", "log-a", "log-b", "other");

  private static final List<List<String>> SETS =
      List.of(List.of("user-*"), List.of("*a", "other"), List.of("user-a", "log-b", "other"));

  private final Store store = MovedDatabase.withLongPrefixes(stores.fresh());
  private final StoreDatabases databases = new StoreDatabases(store);
  private final StoreDatabases interrupted =
      new StoreDatabases(WrappedTransactions.beforeRanges(store, this::interrupt));

  /** Documents of each existing database, with the sequence of their last change. */
  private final Map<String, Map<String, String>> expected = new TreeMap<>();

  private Random random;

  /** Whether something happens in the store while pages are read. */
  private boolean interrupting;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void what_readers_are_told_is_what_the_store_has(long seed) {
    random = new Random(seed);
    interrupting = true;
    List<Reader> readers = new ArrayList<>();
    for (int round = 0; round < 45; round++) {
      for (int i = random.nextInt(6); i >= 0; i--) {
        change();
      }
      if (readers.size() < 8) {
        readers.add(new Reader(SETS.get(random.nextInt(SETS.size()))));
      }
      for (Reader reader : readers) {
        reader.goOn(random.nextInt(4));
      }
      if (random.nextInt(10) == 0) {
        readers.add(readers.get(random.nextInt(readers.size())).fork());
      }
    }
    interrupting = false;
    for (Reader reader : readers) {
      reader.goOn(Integer.MAX_VALUE);
      reader.check();
    }
  }

  private void interrupt() {
    if (interrupting && random.nextInt(300) == 0) {
      change();
    }
  }

  private void change() {
    String name = NAMES.get(random.nextInt(NAMES.size()));
    if (!expected.containsKey(name)) {
      if (expected.isEmpty() || random.nextInt(3) == 0) {
        databases.create(name, 1 + random.nextInt(3));
        expected.put(name, new TreeMap<>());
      } else {
        moveIn(name);
      }
      return;
    }
    switch (random.nextInt(14)) {
      case 0 -> {
        databases.delete(name);
        expected.remove(name);
      }
      case 1 -> Compactions.step(store, 1 + random.nextInt(4));
      case 2 -> Compactions.whole(store);
      case 3 -> databases.reshard(name, 1 + random.nextInt(3));
      case 4 ->
          databases.deleteAndUndelete(
              name,
              () -> {
                if (random.nextBoolean()) {
                  Compactions.whole(store);
                }
              });
      default -> write(name);
    }
  }

  /** A database comes with a history of other versions, above or below all of this store's. */
  private void moveIn(String name) {
    List<String> others = List.copyOf(expected.keySet());
    String from = others.get(random.nextInt(others.size()));
    long below =
        MovedDatabase.below(
            databases.catalogue.open(DatabaseName.of(from)), random.nextInt(10_000));
    long shift = random.nextBoolean() ? below : MovedDatabase.ABOVE + random.nextInt(10_000);
    MovedDatabase moved = databases.moveIn(from, name, shift);
    Map<String, String> documents = new TreeMap<>();
    expected
        .get(from)
        .forEach(
            (id, at) ->
                documents.put(id, moved.moved(Sequence.parse(at).orElseThrow()).toString()));
    expected.put(name, documents);
  }

  private void write(String name) {
    String[] ids =
        random
            .ints(1 + random.nextInt(3), 0, 7)
            .distinct()
            .mapToObj(id -> "d" + id)
            .toArray(String[]::new);
    databases
        .putAll(name, ids)
        .forEach((id, sequence) -> expected.get(name).put(id, sequence.toString()));
  }

  /** One reader and its copy. */
  private final class Reader {
    private final DatabaseSet wanted;
    private final Map<String, Map<String, String>> copy = new TreeMap<>();
    private final Set<String> told = new HashSet<>();
    private StorePosition position = StorePosition.BEGINNING;
    private LiveSource<StorePosition> source;

    Reader(List<String> wanted) {
      this.wanted = DatabaseSet.of(wanted);
      this.source = open();
    }

    private LiveSource<StorePosition> open() {
      int rows = 1 + random.nextInt(6);
      return new ManyDatabases(
              interrupted.store,
              interrupted.catalogue,
              interrupted.transactions,
              FeedRights.DEFAULT,
              new PageLimits(rows, rows, 1 + random.nextInt(1_000)),
              new ScanLimits(
                  2 + random.nextInt(6),
                  1 + random.nextInt(3),
                  1 + random.nextInt(8),
                  1 + random.nextInt(8),
                  1 + random.nextInt(3)),
              new CandidateMemory(64 << 20))
          .live(
              wanted,
              FeedOptions.DEFAULT,
              Since.after(StorePosition.BEGINNING),
              UserContext.ADMIN_PARTY,
              new ToldByHand())
          .source();
    }

    /** Returns another reader that continues at this one's position. */
    Reader fork() {
      return new Reader(this);
    }

    private Reader(Reader origin) {
      this.wanted = origin.wanted;
      origin.copy.forEach((name, documents) -> copy.put(name, new TreeMap<>(documents)));
      told.addAll(origin.told);
      position = origin.position;
      source = open();
    }

    /** Reads some pages, or up to the end. */
    void goOn(int pages) {
      boolean reachedEnd = false;
      for (int i = 0; i < pages && !reachedEnd; i++) {
        if (random.nextInt(5) == 0) {
          source = open();
        }
        LivePage<StorePosition> page = source.page(position, 1 + random.nextInt(5));
        reachedEnd = takeAll(page) && page.reachedEnd();
      }
    }

    /** Returns false if the client was disconnected, and has to continue after its last row. */
    private boolean takeAll(LivePage<StorePosition> page) {
      Rows<StorePosition> rows = page.rows();
      for (int row = 0; row < rows.size(); row++) {
        assertThat(rows.at(row)).isGreaterThan(position);
        position = StorePosition.since(rows.at(row).text()).after().orElseThrow();
        assertThat(position).isEqualTo(rows.at(row));
        take(rows, row);
        if (random.nextInt(20) == 0) {
          return false;
        }
      }
      assertThat(page.next()).isGreaterThanOrEqualTo(position);
      position = page.next();
      return true;
    }

    private void take(Rows<StorePosition> rows, int row) {
      DatabaseName name = rows.database(row);
      assertThat(wanted.contains(name)).isTrue();
      if (rows.isLeft(row)) {
        copy.remove(name.text());
        told.removeIf(it -> it.startsWith(name + "{"));
        return;
      }
      int length = rows.end(row) - rows.start(row);
      String json = new String(rows.json(), rows.start(row), length, StandardCharsets.UTF_8);
      Matcher parts = ROW.matcher(json);
      assertThat(parts.find()).isTrue();
      assertThat(told.add(name + json)).as("a repetition of %s", json).isTrue();
      copy.computeIfAbsent(name.text(), it -> new TreeMap<>()).put(parts.group(2), parts.group(1));
    }

    void check() {
      Map<String, Map<String, String>> wantedNow = new TreeMap<>();
      expected.forEach(
          (name, documents) -> {
            if (wanted.contains(DatabaseName.of(name)) && !documents.isEmpty()) {
              wantedNow.put(name, documents);
            }
          });
      assertThat(copy).isEqualTo(wantedNow);
    }
  }
}
