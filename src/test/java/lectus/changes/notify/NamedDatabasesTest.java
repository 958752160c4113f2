package lectus.changes.notify;

import static lectus.changes.notify.ManyDatabasesTest.texts;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.Compactions;
import lectus.changes.log.StoreDatabases;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.FeedRights;
import lectus.changes.page.LivePage;
import lectus.changes.page.LiveSource;
import lectus.changes.page.Since;
import lectus.changes.testing.ToldByHand;
import lectus.database.CatalogueSubspace;
import lectus.database.SecurityObject;
import lectus.database.UpdatesSubspace;
import lectus.database.UserContext;
import lectus.store.CountedReads;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.Versionstamp;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Readers of databases that they name, who need not read the whole log of the store. */
final class NamedDatabasesTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  /** Two rows of each bucket of the log, which a reader of one name reads before it looks it up. */
  private static final int FEW = 50;

  private final Store store = stores.fresh();
  private final StoreDatabases databases = new StoreDatabases(store);
  private final CountedReads counted = new CountedReads(store);

  @Test
  void a_reader_of_one_name_reads_little_however_many_others_changed() {
    int others = 1_000;
    List<String> names = IntStream.range(0, others).mapToObj(i -> "other" + i).toList();
    databases.create("mine");
    databases.put("mine", "known");
    names.forEach(databases::create);
    StorePosition from = now();
    names.forEach(name -> databases.put(name, "x"));
    Compactions.whole(store);

    assertThat(rows(List.of("mine"), from, FEW)).as("nothing happened").isEmpty();
    databases.put("mine", "a");
    databases.put("mine", "b");
    assertThat(rows(List.of("mine"), from, FEW)).containsExactly("mine a", "mine b");
    Compactions.whole(store);
    assertThat(rows(List.of("mine"), from, FEW)).containsExactly("mine a", "mine b");
    databases.delete("mine");
    Compactions.whole(store);
    assertThat(rows(List.of("mine"), from, FEW)).containsExactly("left mine");
    databases.create("mine");
    databases.put("mine", "c");
    Compactions.whole(store);
    assertThat(rows(List.of("mine"), from, FEW)).containsExactly("left mine", "mine c");
    StorePosition later = now();
    databases.delete("mine");
    databases.create("mine");
    Compactions.whole(store);
    assertThat(rows(List.of("mine"), later, FEW)).containsExactly("left mine");
    assertThat(rows(List.of("mine", "none"), from, FEW)).containsExactly("left mine");

    long before = counted.rows();
    assertThat(rows(List.of("mine*"), from, Long.MAX_VALUE)).containsExactly("left mine");
    assertThat(counted.rows() - before).as("a pattern needs the log").isGreaterThan(others);
  }

  @Test
  void a_reader_that_waits_reads_little_of_what_others_do() {
    databases.create("mine");
    for (int i = 0; i < 300; i++) {
      databases.create("other" + i);
    }
    LiveSource<StorePosition> source = source(counted.store(), List.of("mine"));
    StorePosition position = source.page(now(), 10).next();
    for (int i = 0; i < 300; i++) {
      databases.put("other" + i, "x");
    }
    Compactions.whole(store);
    databases.put("mine", "a");
    long before = counted.rows();
    assertThat(texts(source.page(position, 10).rows())).containsExactly("mine a");
    assertThat(counted.rows() - before).isLessThan(FEW);
  }

  /** The row of an end that a reader has found is gone before the reader comes to it. */
  @Test
  void an_end_is_told_to_whoever_could_read_also_if_its_row_is_merged_meanwhile() {
    databases.create("a");
    databases.create("b");
    StorePosition from = now();
    databases.put("a", "first");
    databases.put("a", "second");
    databases.delete("b");
    databases.create("b");
    databases.delete("b");
    FeedRights everybody = new FeedRights(SecurityObject.EVERYBODY);
    LiveSource<StorePosition> source =
        new ManyDatabases(store, databases.catalogue, databases.transactions, everybody, 64 << 20)
            .live(
                DatabaseSet.of(List.of("*")),
                FeedOptions.DEFAULT,
                StorePosition.since(from.text()),
                UserContext.ANONYMOUS,
                new ToldByHand())
            .source();
    LivePage<StorePosition> page = source.page(from, 1);
    assertThat(texts(page.rows())).containsExactly("a first");
    Compactions.whole(store);
    assertThat(texts(source.page(page.next(), 10).rows())).containsExactly("a second", "left b");
  }

  /** Of names that change often while the log is short, the log is read. */
  @Test
  void a_reader_of_many_names_reads_a_short_log() {
    List<String> names = IntStream.range(0, 500).mapToObj(i -> "db" + i).toList();
    names.forEach(databases::create);
    Compactions.whole(store);
    StorePosition from = now();
    databases.put("db3", "x");
    databases.put("db7", "y");
    Compactions.whole(store);
    long before = counted.reads();
    assertThat(rows(names, from, FEW)).containsExactly("db3 x", "db7 y");
    assertThat(counted.reads() - before).isLessThan(100);
  }

  @ParameterizedTest
  @ValueSource(strings = {"db3", "*"})
  void a_reader_at_the_end_of_the_log_reads_nothing_else(String wanted) {
    for (int i = 0; i < 5; i++) {
      databases.create("db" + i);
    }
    Compactions.whole(store);
    LiveSource<StorePosition> source = source(counted.store(), List.of(wanted));
    StorePosition position = source.page(now(), 10).next();
    long before = counted.reads();
    position = source.page(position, 10).next();
    assertThat(counted.reads() - before).isEqualTo(UpdatesSubspace.BUCKETS);
    databases.put("db3", "x");
    before = counted.reads();
    assertThat(texts(source.page(position, 10).rows())).containsExactly("db3 x");
    // The metadata version, the database's configuration and its changes.
    assertThat(counted.reads() - before).isBetween(1L, UpdatesSubspace.BUCKETS + 7L);
  }

  @Test
  void a_row_that_cannot_be_read_stops_no_reader() {
    List<String> names = List.of("mine", "b");
    names.forEach(databases::create);
    for (int i = 0; i < 40; i++) {
      databases.create("other" + i);
    }
    StorePosition from = now();
    for (int i = 0; i < 40; i++) {
      databases.put("other" + i, "x");
    }
    databases.put("mine", "a");
    databases.delete("b");
    databases.create("b");
    databases.put("b", "c");
    Compactions.whole(store);
    databases.put("mine", "d");
    List<String> expected = List.of("mine a", "left b", "b c", "mine d");
    assertThat(rows(names, from, Long.MAX_VALUE)).isEqualTo(expected);
    List<KeyValue> pointers =
        databases.transactions.read(
            tx ->
                tx.getRange(RootSubspace.UPDATE_POINTERS.range(store.rootPrefix()))
                    .asList()
                    .join());
    assertThat(pointers).hasSizeGreaterThan(40);
    pointers.forEach(
        pointer -> {
          set(pointer.getKey(), new byte[] {0x7f});
          assertThat(rows(names, from, Long.MAX_VALUE)).isEqualTo(expected);
          set(pointer.getKey(), pointer.getValue());
        });

    byte[] entry = new CatalogueSubspace(store.rootPrefix()).key("b");
    byte[] value = databases.transactions.read(tx -> tx.get(entry).join());
    set(entry, new byte[] {0x7f});
    for (List<String> wanted : List.of(names, List.of("mine", "b*"))) {
      assertThat(rows(wanted, from, Long.MAX_VALUE)).containsExactly("mine a", "left b", "mine d");
      StorePosition beginning = new StorePosition(Versionstamp.ZERO);
      assertThat(rows(wanted, beginning, Long.MAX_VALUE)).containsExactly("mine a", "mine d");
    }
    set(entry, value);
  }

  private void set(byte[] key, byte[] value) {
    databases.transactions.run(
        tx -> {
          tx.set(key, value);
          return null;
        });
  }

  @Test
  void readers_that_come_together_share_what_they_read_of_the_log() {
    int others = 1_000;
    for (int i = 0; i < others; i++) {
      databases.create("other" + i);
    }
    List<StorePosition> positions = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      positions.add(now());
      databases.create("mine" + i);
    }
    for (int i = 0; i < others; i++) {
      databases.put("other" + i, "x");
    }
    databases.put("mine3", "a");
    Compactions.whole(store);
    ManyDatabases many = many(counted.store());
    long before = counted.rows();
    for (StorePosition from : positions) {
      assertThat(texts(live(many, List.of("mine*")).page(from, 10).rows()))
          .containsExactly("mine3 a");
    }
    assertThat(counted.rows() - before).isBetween((long) others, others + 300L);
    databases.put("mine4", "b");
    assertThat(texts(live(many, List.of("mine*")).page(positions.get(0), 10).rows()))
        .as("what came later is read")
        .containsExactly("mine3 a", "mine4 b");
    long later = counted.rows();
    live(many(counted.store()), List.of("mine*")).page(positions.get(0), 10);
    assertThat(counted.rows() - later).as("nobody read it for this one").isGreaterThan(others);
  }

  /**
   * A set with a pattern that nothing matches reads the log, and has to be told the same as one of
   * names alone.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void looking_up_names_finds_what_the_log_says(long seed) {
    Random random = new Random(seed);
    List<StorePosition> positions = new ArrayList<>();
    for (int step = 0; step < 150; step++) {
      String name = "db" + random.nextInt(8);
      if (!databases.exists(name)) {
        databases.create(name, 1 + random.nextInt(2));
      } else if (random.nextInt(5) == 0) {
        databases.delete(name);
      } else {
        databases.put(name, "d" + random.nextInt(5), "e" + random.nextInt(5));
      }
      if (random.nextInt(8) == 0) {
        Compactions.step(store, 1 + random.nextInt(6));
      }
      if (random.nextInt(8) == 0) {
        positions.add(now());
      }
      if (random.nextInt(15) == 0) {
        compare(random, positions);
      }
    }
    compare(random, positions);
    Compactions.whole(store);
    compare(random, positions);
  }

  private void compare(Random random, List<StorePosition> positions) {
    for (StorePosition from : positions) {
      List<String> names = new ArrayList<>();
      for (int i = 0; i < 9; i++) {
        if (random.nextInt(3) == 0) {
          names.add("db" + i);
        }
      }
      names.add("none");
      List<String> lookedUp = rows(names, from, Long.MAX_VALUE);
      names.add("zz*");
      assertThat(lookedUp).isEqualTo(rows(names, from, Long.MAX_VALUE));
    }
  }

  private StorePosition now() {
    return new StorePosition(
        Versionstamp.upTo(databases.transactions.read(tx -> tx.getReadVersion().join())));
  }

  /** Returns what a reader is told from a position on. */
  private List<String> rows(List<String> set, StorePosition from, long mostRead) {
    long before = counted.rows();
    LiveSource<StorePosition> source = source(counted.store(), set);
    List<String> told = new ArrayList<>();
    StorePosition position = from;
    LivePage<StorePosition> page;
    do {
      page = source.page(position, 100);
      told.addAll(texts(page.rows()));
      position = page.next();
    } while (!page.reachedEnd());
    assertThat(counted.rows() - before).isLessThan(mostRead);
    return told;
  }

  private static LiveSource<StorePosition> source(Store store, List<String> set) {
    return live(many(store), set);
  }

  private static ManyDatabases many(Store store) {
    StoreDatabases seen = new StoreDatabases(store);
    return new ManyDatabases(
        store, seen.catalogue, seen.transactions, FeedRights.DEFAULT, 64 << 20);
  }

  private static LiveSource<StorePosition> live(ManyDatabases many, List<String> set) {
    return many.live(
            DatabaseSet.of(set),
            FeedOptions.DEFAULT,
            Since.after(StorePosition.BEGINNING),
            UserContext.ADMIN_PARTY,
            new ToldByHand())
        .source();
  }
}
