package lectus.changes.notify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.changes.filter.FeedFilter;
import lectus.changes.filter.FilterIndex.PageTime;
import lectus.changes.log.Compactions;
import lectus.changes.log.LogRows;
import lectus.changes.log.StoreDatabases;
import lectus.changes.log.UpdatesLog;
import lectus.changes.notify.CandidateQueue.Candidate;
import lectus.changes.notify.CandidateQueue.CandidateMemory;
import lectus.changes.notify.DatabaseSet.DatabasePattern;
import lectus.changes.notify.ManyDatabases.ScanLimits;
import lectus.changes.notify.ManyDatabases.VisibleDatabases;
import lectus.changes.page.ChangesReader;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.FeedPosition;
import lectus.changes.page.FeedRights;
import lectus.changes.page.LivePage;
import lectus.changes.page.LiveSource;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.changes.page.Registration;
import lectus.changes.page.Rows;
import lectus.changes.page.Since;
import lectus.changes.page.TouchedShards;
import lectus.changes.testing.ToldByHand;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.UserContext;
import lectus.derived.FeedDefinition;
import lectus.derived.rows.FeedCatalogue;
import lectus.derived.rows.FillingJobs;
import lectus.document.RowParts.PageLimits;
import lectus.document.testing.Answers;
import lectus.error.LectusException;
import lectus.store.DistantStore;
import lectus.store.Store;
import lectus.store.Versionstamp;
import lectus.store.WrappedTransactions;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The changes of many databases in one order. */
final class ManyDatabasesTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final Pattern ID = Pattern.compile("\"id\":\"([^\"]*)\"");

  private final Store store = stores.fresh();
  private final StoreDatabases databases = new StoreDatabases(store);

  private static final Comparator<Candidate> EARLIEST_FIRST =
      Comparator.comparing(Candidate::atLeast);

  private final CandidateMemory memory = new CandidateMemory(64 << 20);

  private final CandidateQueue candidates =
      new CandidateQueue(DatabaseSet.of(List.of("*")), memory);

  @Test
  void changes_come_in_the_order_of_their_commits() {
    databases.create("user-a");
    databases.create("user-b");
    databases.create("other");
    databases.put("user-a", "1");
    databases.put("user-b", "2");
    databases.put("other", "x");
    databases.put("user-a", "3", "4");
    databases.put("user-b", "5");
    databases.put("user-a", "1");

    assertThat(all("user-*", 100))
        .containsExactly("user-b 2", "user-a 3", "user-a 4", "user-b 5", "user-a 1");
    assertThat(all("user-*", 1)).isEqualTo(all("user-*", 100));
  }

  @Test
  void a_row_is_what_the_database_s_own_feed_has() {
    databases.create("a");
    databases.put("a", "x");
    LivePage<StorePosition> page = source("a").page(StorePosition.BEGINNING, 10);
    String row = new String(page.rows().json(), StandardCharsets.UTF_8);
    String own =
        Answers.whole(
            new ChangesReader(databases.catalogue, databases.transactions, FeedRights.DEFAULT)
                .answer(
                    DatabaseName.of("a"),
                    FeedOptions.DEFAULT,
                    Since.after(FeedPosition.BEGINNING),
                    10));
    assertThat(own).contains("\n" + row + "\n");
    assertThat(row).contains(page.rows().at(0).text());
  }

  @Test
  void any_position_of_a_row_goes_on_behind_it() {
    for (int i = 0; i < 5; i++) {
      databases.create("db" + i);
    }
    for (int i = 0; i < 40; i++) {
      databases.put("db" + i % 5, "a" + i, "b" + i);
    }
    List<String> all = all("db*", 100);
    assertThat(all).hasSize(80);
    LiveSource<StorePosition> source = source("db*");
    LivePage<StorePosition> page = source.page(StorePosition.BEGINNING, 100);
    for (int row = 0; row < 80; row += 7) {
      List<String> rest = new ArrayList<>();
      read(source("db*"), page.rows().at(row), 9, rest);
      assertThat(rest).isEqualTo(all.subList(row + 1, 80));
    }
  }

  @Test
  void a_database_created_later_joins_and_a_deleted_one_leaves_in_order() {
    databases.create("a1");
    databases.put("a1", "x");
    LiveSource<StorePosition> source = source("a*");
    List<String> seen = new ArrayList<>();
    StorePosition position = read(source, StorePosition.BEGINNING, 10, seen);
    assertThat(seen).containsExactly("a1 x");
    seen.clear();

    databases.create("a2");
    databases.put("a2", "y");
    databases.delete("a1");
    databases.put("a2", "z");
    databases.create("a1");
    databases.put("a1", "again");

    read(source, position, 10, seen);
    List<String> expected = List.of("a2 y", "left a1", "a2 z", "a1 again");
    assertThat(seen).isEqualTo(expected);
    seen.clear();
    read(source("a*"), position, 1, seen);
    assertThat(seen).isEqualTo(expected);
  }

  /** Each is looked up in the log, so a page of nothing else has to end, too. */
  @Test
  void a_page_of_many_deletions_ends_and_goes_on() {
    int count = PageLimits.DEFAULT.rows(false) + 10;
    List<String> names = IntStream.range(0, count).mapToObj(i -> "db" + i).toList();
    names.forEach(databases::create);
    StorePosition from = read(source("*"), StorePosition.BEGINNING, 10, new ArrayList<>());
    names.forEach(databases::delete);
    LivePage<StorePosition> page = source("*").page(from, 10);
    assertThat(page.rows().size()).isBetween(1, PageLimits.DEFAULT.rows(false));
    List<String> seen = new ArrayList<>();
    read(source("*"), from, 10, seen);
    assertThat(seen).isEqualTo(names.stream().map("left "::concat).toList());
  }

  @Test
  void one_deleted_and_created_again_while_a_token_is_read_on_leaves_and_joins() {
    int count = 12;
    for (int i = 0; i < count; i++) {
      databases.create("db" + i);
    }
    StorePosition token = read(source("*"), StorePosition.BEGINNING, 10, new ArrayList<>());
    for (int i = 0; i < count; i++) {
      databases.put("db" + i, "old" + i);
    }
    // One already read, one being read, and the last one.
    for (String again : List.of("db0", "db6", "db11")) {
      LiveSource<StorePosition> source = source(store, "*", new ScanLimits(100, 1, 3, 3, 2));
      List<String> seen = new ArrayList<>();
      LivePage<StorePosition> page = source.page(token, 1);
      while (page.rows().size() == 0) {
        page = source.page(page.next(), 1);
      }
      seen.addAll(texts(page.rows()));
      databases.delete(again);
      databases.create(again);
      databases.put(again, "new");
      read(source, page.next(), 1, seen);

      assertThat(seen).endsWith("left " + again, again + " new");
      List<String> others = seen.stream().filter(it -> !it.contains(again + " ")).toList();
      assertThat(others.stream().distinct()).hasSameSizeAs(others).hasSizeGreaterThan(count - 2);
    }
  }

  @Test
  void who_may_only_be_told_of_ends_learns_that_the_log_is_not_read_to_its_end_yet() {
    databases.create("db0");
    StorePosition from = read(source("*"), StorePosition.BEGINNING, 10, new ArrayList<>());
    for (int i = 1; i < 9; i++) {
      databases.create("db" + i);
    }
    databases.delete("db0");
    LiveSource<StorePosition> source = source(store, "*", new ScanLimits(100, 1, 3, 3, 2));
    List<String> told = new ArrayList<>();
    int pages = 0;
    StorePosition position = from;
    do {
      LivePage<StorePosition> page = source.page(position, 0);
      told.addAll(texts(page.rows()));
      position = page.next();
      pages++;
    } while (source.isFindingOut(position));
    assertThat(pages).isGreaterThan(2);
    assertThat(told).containsExactly("left db0");
  }

  @Test
  void what_lived_and_died_behind_the_position_is_not_told() {
    databases.create("a");
    databases.put("a", "x");
    databases.delete("a");
    databases.create("b");
    databases.put("b", "y");
    assertThat(all("*", 10)).containsExactly("b y");
  }

  @Test
  void at_the_end_the_position_moves_without_rows() {
    databases.create("a");
    LiveSource<StorePosition> source = source("b*");
    LivePage<StorePosition> page = source.page(StorePosition.BEGINNING, 10);
    assertThat(page.reachedEnd()).isTrue();
    assertThat(page.rows().isEmpty()).isTrue();
    databases.put("a", "x");
    LivePage<StorePosition> later = source.page(page.next(), 10);
    assertThat(later.next()).isGreaterThan(page.next());
  }

  @Test
  void what_is_committed_while_a_page_is_read_comes_with_the_next() {
    databases.create("a");
    databases.create("b");
    databases.put("a", "1");
    databases.put("b", "2");
    AtomicInteger reads = new AtomicInteger();
    Store interrupted =
        WrappedTransactions.beforeRanges(
            store,
            () -> {
              int number = reads.getAndIncrement();
              if (number == 0) {
                databases.put("b", "3");
              } else if (number == 20) {
                databases.put("a", "1", "4");
                databases.delete("b");
              }
            });
    LiveSource<StorePosition> source = source(interrupted, "*", ScanLimits.DEFAULT);

    LivePage<StorePosition> page = source.page(StorePosition.BEGINNING, 10);
    assertThat(reads.get()).isGreaterThan(20);
    assertThat(texts(page.rows())).containsExactly("a 1", "b 2");
    assertThat(page.reachedEnd()).isTrue();
    assertThat(texts(source.page(page.next(), 10).rows()))
        .as("b 3 was gone before it was told")
        .containsExactly("a 1", "a 4", "left b");
  }

  @Test
  void compaction_between_pages_takes_nothing_away() {
    for (int i = 0; i < 3; i++) {
      databases.create("db" + i);
    }
    for (int i = 0; i < 30; i++) {
      databases.put("db" + i % 3, "doc" + i);
    }
    List<String> all = all("*", 100);
    for (int rowsPerStep : new int[] {1, 3, 100}) {
      LiveSource<StorePosition> kept = source("*");
      List<String> seen = new ArrayList<>();
      StorePosition position = StorePosition.BEGINNING;
      LivePage<StorePosition> page;
      do {
        LiveSource<StorePosition> source = seen.size() % 2 == 0 ? kept : source("*");
        page = source.page(position, 1);
        seen.addAll(texts(page.rows()));
        position = page.next();
        Compactions.step(store, rowsPerStep);
      } while (!page.reachedEnd());
      assertThat(seen).isEqualTo(all);
    }
  }

  @Test
  void resharding_changes_nothing_for_a_reader() {
    databases.create("a", 3);
    databases.create("b");
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      String name = i % 2 == 0 ? "a" : "b";
      databases.put(name, "doc" + i);
      expected.add(name + " doc" + i);
      if (i % 9 == 8) {
        databases.reshard(name, 1 + i % 4);
      }
    }
    databases.reshard("a", 2);
    assertThat(all("*", 100)).isEqualTo(expected);
    assertThat(all("*", 1)).isEqualTo(expected);
    LivePage<StorePosition> page = source("*").page(StorePosition.BEGINNING, 100);
    for (int row = 0; row < 40; row += 5) {
      List<String> rest = new ArrayList<>();
      read(source("*"), page.rows().at(row), 7, rest);
      assertThat(rest).isEqualTo(expected.subList(row + 1, 40));
    }
  }

  @Test
  void more_databases_than_fit_into_memory_come_in_the_same_order() {
    int count = 25;
    for (int i = 0; i < count; i++) {
      databases.create("db" + i);
    }
    StorePosition created = source("*").page(StorePosition.BEGINNING, 1).next();
    for (int i = 0; i < 4 * count; i++) {
      databases.put("db" + i * 7 % count, "doc" + i / count);
    }
    databases.delete("db3");
    databases.delete("db4");
    for (StorePosition from : List.of(StorePosition.BEGINNING, created)) {
      List<String> all = new ArrayList<>();
      read(source("*"), from, 1_000, all);
      assertThat(all).hasSize(4 * (count - 2) + (from.equals(created) ? 2 : 0));
      for (int capacity : new int[] {2, 3, 7, 24}) {
        List<String> seen = new ArrayList<>();
        read(source(store, "*", new ScanLimits(capacity, 2, 5, 5, 4)), from, 3, seen);
        if (from.equals(StorePosition.BEGINNING)) {
          // A position on the way is as good as one from before the deletions.
          seen.removeAll(List.of("left db3", "left db4"));
        }
        assertThat(seen).isEqualTo(all);
      }
    }
  }

  private CandidateScan scanOfAll(ScanLimits limits, StorePosition from) {
    return new CandidateScan(
        DatabaseSet.of(List.of("*")),
        databases.catalogue,
        new UpdatesLog(store),
        limits,
        new CandidateMemory(64 << 20),
        from);
  }

  /** Returns whether the scan is complete. */
  private boolean run(CandidateScan scan, StorePosition from, PageTime time) {
    return databases.transactions.read(
        tx ->
            scan.run(
                tx,
                new OpenDatabases(
                    tx,
                    databases.catalogue,
                    FeedRights.DEFAULT,
                    from,
                    1,
                    new PageTime(),
                    VisibleDatabases.EVERYTHING,
                    FeedOptions.DEFAULT),
                from,
                time));
  }

  @Test
  void no_more_candidates_are_kept_than_allowed() {
    for (int i = 0; i < 25; i++) {
      databases.create("db" + i);
      databases.put("db" + i, "x");
    }
    ScanLimits limits = new ScanLimits(4, 1, 3, 3, 1);
    for (StorePosition from :
        List.of(StorePosition.BEGINNING, new StorePosition(Versionstamp.ZERO.successor()))) {
      CandidateScan scan = scanOfAll(limits, from);
      boolean complete;
      do {
        complete = run(scan, from, new PageTime());
        // What one read adds before the surplus is dropped.
        assertThat(scan.candidates().size()).isLessThanOrEqualTo(2 * limits.candidates() + 16);
      } while (!complete);
      assertThat(scan.candidates().size()).isLessThanOrEqualTo(limits.candidates());
    }
  }

  /** A row may be compared with many patterns, so the time is checked after each row. */
  @Test
  void a_scan_stops_behind_the_row_at_which_its_time_is_up() {
    for (int i = 0; i < 9; i++) {
      databases.create("db" + i);
    }
    for (StorePosition from :
        List.of(StorePosition.BEGINNING, new StorePosition(Versionstamp.ZERO.successor()))) {
      CandidateScan scan = scanOfAll(ScanLimits.DEFAULT, from);
      int runs = 0;
      boolean complete;
      do {
        int before = scan.candidates().size();
        complete = run(scan, from, new PageTime(Duration.ofNanos(-1)));
        assertThat(scan.candidates().size()).isLessThanOrEqualTo(before + 1);
        runs++;
      } while (!complete && runs < 100);
      assertThat(complete).isTrue();
      assertThat(scan.candidates().size()).isEqualTo(9);
    }
  }

  @Test
  void a_page_is_one_transaction_whatever_is_to_be_looked_at() {
    int count = 30;
    for (int i = 0; i < count; i++) {
      databases.create("db" + i);
    }
    for (int i = 0; i < count; i++) {
      databases.put("db" + (count - 1 - i), "doc" + i);
    }
    AtomicInteger transactions = new AtomicInteger();
    Store counted =
        WrappedTransactions.of(
            store,
            tx -> {
              transactions.incrementAndGet();
              return tx;
            });
    for (ScanLimits limits :
        List.of(new ScanLimits(100, 1, 1, 3, 100), new ScanLimits(100, 9, 100, 100, 2))) {
      LiveSource<StorePosition> source = source(counted, "*", limits);
      StorePosition position = StorePosition.BEGINNING;
      List<String> seen = new ArrayList<>();
      LivePage<StorePosition> page;
      int pages = 0;
      do {
        int before = transactions.get();
        page = source.page(position, 100);
        assertThat(transactions.get() - before).isEqualTo(1);
        seen.addAll(texts(page.rows()));
        position = page.next();
        pages++;
      } while (!page.reachedEnd());
      assertThat(pages).as("with nothing to tell at first").isGreaterThan(10);
      assertThat(seen).hasSize(count).startsWith("db29 doc0", "db28 doc1");
    }
  }

  @Test
  void what_fails_takes_nothing_out_of_a_reader_s_hands() {
    for (int i = 0; i < 12; i++) {
      databases.create("db" + i);
      databases.put("db" + i, "a", "b");
    }
    databases.delete("db5");
    List<String> all = all("*", 100);
    AtomicInteger reads = new AtomicInteger();
    Store failing =
        WrappedTransactions.beforeRanges(
            store,
            () -> {
              if (reads.incrementAndGet() % 41 == 0) {
                throw new IllegalStateException("The disk is gone");
              }
            });
    LiveSource<StorePosition> source = source(failing, "*", new ScanLimits(100, 3, 3, 5, 3));
    List<String> seen = new ArrayList<>();
    StorePosition position = StorePosition.BEGINNING;
    int failures = 0;
    boolean reachedEnd = false;
    while (!reachedEnd) {
      try {
        LivePage<StorePosition> page = source.page(position, 3);
        seen.addAll(texts(page.rows()));
        position = page.next();
        reachedEnd = page.reachedEnd();
      } catch (IllegalStateException failure) {
        failures++;
      }
    }
    assertThat(failures).isGreaterThan(1);
    assertThat(seen).isEqualTo(all);
  }

  @Test
  void readers_share_memory_and_come_on_without_any() {
    int count = 1_100;
    for (int i = 0; i < count; i++) {
      databases.create("db" + i);
      if (i % 10 == 0) {
        databases.put("db" + i, "doc" + i);
      }
    }
    List<String> all = all("*", 1_000);
    assertThat(all).hasSize(count / 10);
    CandidateMemory none = new CandidateMemory(0);
    LiveSource<StorePosition> source =
        new ManyDatabases(
                store,
                databases.catalogue,
                databases.transactions,
                FeedRights.DEFAULT,
                PageLimits.DEFAULT,
                ScanLimits.DEFAULT,
                none)
            .live(
                DatabaseSet.of(List.of("*")),
                FeedOptions.DEFAULT,
                Since.after(StorePosition.BEGINNING),
                UserContext.ADMIN_PARTY,
                new ToldByHand())
            .source();
    List<String> seen = new ArrayList<>();
    read(source, StorePosition.BEGINNING, 1_000, seen);
    assertThat(seen).isEqualTo(all);
    assertThat(none.taken.get()).as("one reader that has caught up").isBetween(1L, 10_000L);
  }

  @Test
  void a_filter_leaves_rows_out_and_the_position_moves_on() {
    databases.create("a");
    databases.create("b");
    for (int i = 0; i < 20; i++) {
      databases.put(i % 2 == 0 ? "a" : "b", "doc" + i);
    }
    FeedOptions options =
        new FeedOptions(
            false, false, false, new FeedFilter.DocumentIds(Set.of("doc7", "doc18")), 1);
    LiveSource<StorePosition> source =
        new ManyDatabases(
                store,
                databases.catalogue,
                databases.transactions,
                FeedRights.DEFAULT,
                new PageLimits(3, 3, 1_000),
                ScanLimits.DEFAULT,
                new CandidateMemory(64 << 20))
            .live(
                DatabaseSet.of(List.of("*")),
                options,
                Since.after(StorePosition.BEGINNING),
                UserContext.ADMIN_PARTY,
                new ToldByHand())
            .source();
    List<String> seen = new ArrayList<>();
    read(source, StorePosition.BEGINNING, 10, seen);
    assertThat(seen).containsExactly("b doc7", "a doc18");
  }

  @Test
  void the_stored_feeds_of_many_databases_are_looked_up_together() {
    int many = 20;
    FeedCatalogue feeds =
        new FeedCatalogue(
            databases.catalogue, databases.transactions, new FillingJobs(store.rootPrefix()));
    for (int i = 0; i < many; i++) {
      DatabaseName name = databases.create("db" + i).name();
      databases.put("db" + i, "x");
      feeds.put(name, FeedDefinition.ofChannels("f", "in"));
    }
    long version = databases.transactions.read(tx -> tx.getReadVersion().join());
    for (int i = 0; i < many; i++) {
      databases.catalogue.secure(DatabaseName.of("db" + i), "{}".getBytes(StandardCharsets.UTF_8));
    }
    DistantStore distant = new DistantStore(store, Duration.ofMillis(20));
    StoreDatabases seen = new StoreDatabases(distant.store());
    FeedFilter filter = new FeedFilter.OfFeed("f", Set.of("db3"), false, Optional.empty());
    LiveSource<StorePosition> source =
        new ManyDatabases(
                distant.store(), seen.catalogue, seen.transactions, FeedRights.DEFAULT, 64 << 20)
            .live(
                DatabaseSet.of(List.of("*")),
                new FeedOptions(false, false, false, filter, 1),
                Since.after(StorePosition.BEGINNING),
                UserContext.ADMIN_PARTY,
                new ToldByHand())
            .source();
    distant.count(thread -> true);
    LivePage<StorePosition> page =
        source.page(new StorePosition(Versionstamp.upTo(version), Versionstamp.upTo(version)), 10);
    assertThat(page.reachedEnd()).isTrue();
    assertThat(page.rows().size()).isZero();
    assertThat(distant.trips()).isBetween(4, many);
  }

  @Test
  void documents_come_with_their_rows_on_demand() {
    databases.create("a");
    databases.create("b");
    databases.put("a", "x");
    databases.put("b", "y");
    FeedOptions options = new FeedOptions(false, true, false, new FeedFilter.None(), 1);
    LivePage<StorePosition> page =
        new ManyDatabases(
                store, databases.catalogue, databases.transactions, FeedRights.DEFAULT, 64 << 20)
            .live(
                DatabaseSet.of(List.of("a", "b")),
                options,
                Since.after(StorePosition.BEGINNING),
                UserContext.ADMIN_PARTY,
                new ToldByHand())
            .source()
            .page(StorePosition.BEGINNING, 10);
    assertThat(new String(page.rows().json(), StandardCharsets.UTF_8))
        .contains("\"in\":\"a\"}}{\"seq\"", "\"in\":\"b\"}}");
  }

  @Test
  void now_is_behind_everything_committed() {
    databases.create("a");
    databases.put("a", "x", "y");
    StorePosition now =
        new ManyDatabases(
                store, databases.catalogue, databases.transactions, FeedRights.DEFAULT, 64 << 20)
            .live(
                DatabaseSet.of(List.of("*")),
                FeedOptions.DEFAULT,
                StorePosition.since("now"),
                UserContext.ADMIN_PARTY,
                new ToldByHand())
            .from();
    databases.put("a", "z");
    List<String> seen = new ArrayList<>();
    read(source("*"), now, 10, seen);
    assertThat(seen).containsExactly("a z");
  }

  @Test
  void a_listener_is_told_of_its_databases_alone() {
    DatabaseHandle mine = databases.create("user-a");
    DatabaseHandle foreign = databases.create("other");
    ToldByHand events = new ToldByHand();
    LiveStart<StorePosition> start =
        new ManyDatabases(
                store, databases.catalogue, databases.transactions, FeedRights.DEFAULT, 64 << 20)
            .live(
                DatabaseSet.of(List.of("user-*")),
                FeedOptions.DEFAULT,
                Since.after(StorePosition.BEGINNING),
                UserContext.ADMIN_PARTY,
                events);
    LiveSource<StorePosition> source = start.source();
    AtomicInteger told = new AtomicInteger();
    Registration registration = source.listen(told::incrementAndGet);
    StorePosition position = read(source, start.from(), 10, new ArrayList<>());
    assertThat(source.hasNews(position)).isFalse();

    Sequence elsewhere = databases.put("other", "x").last().orElseThrow();
    events.publishUpdated(foreign.instance(), foreign.name(), elsewhere, TouchedShards.ANY);
    events.publishDeleted(foreign.instance(), foreign.name());
    assertThat(told.get()).isZero();
    assertThat(source.hasNews(position)).isFalse();

    Sequence here = databases.put("user-a", "x").last().orElseThrow();
    events.publishUpdated(mine.instance(), mine.name(), here, TouchedShards.ANY);
    assertThat(told.get()).isEqualTo(1);
    assertThat(source.hasNews(position)).isTrue();
    position = read(source, position, 10, new ArrayList<>());
    assertThat(source.hasNews(position)).isFalse();
    DatabaseHandle later = databases.create("user-b");
    events.publishCreated(later.instance(), later.name());
    assertThat(told.get()).isEqualTo(2);
    assertThat(source.hasNews(position)).isTrue();
    for (DatabaseUpdate row : LogRows.of(store)) {
      events.logged(row);
    }
    assertThat(told.get()).as("created a, updated a, created b").isEqualTo(5);
    registration.close();
    assertThat(events.listeners()).isZero();
  }

  @Test
  void equal_sets_and_options_are_one_source() {
    Object identity = source("user-*").sharing().orElseThrow().tail();
    assertThat(identity).isEqualTo(source("user-*").sharing().orElseThrow().tail());
    assertThat(identity).isNotEqualTo(source("user-a*").sharing().orElseThrow().tail());
  }

  private List<String> all(String set, int limit) {
    List<String> rows = new ArrayList<>();
    read(source(set), StorePosition.BEGINNING, limit, rows);
    return rows;
  }

  private LiveSource<StorePosition> source(String set) {
    return source(store, set, ScanLimits.DEFAULT);
  }

  private static LiveSource<StorePosition> source(Store store, String set, ScanLimits scans) {
    StoreDatabases seen = new StoreDatabases(store);
    return new ManyDatabases(
            store,
            seen.catalogue,
            seen.transactions,
            FeedRights.DEFAULT,
            PageLimits.DEFAULT,
            scans,
            new CandidateMemory(64 << 20))
        .live(
            DatabaseSet.of(List.of(set)),
            FeedOptions.DEFAULT,
            Since.after(StorePosition.BEGINNING),
            UserContext.ADMIN_PARTY,
            new ToldByHand())
        .source();
  }

  /** Reads to the end; returns the position there. */
  private static StorePosition read(
      LiveSource<StorePosition> source, StorePosition from, int limit, List<String> into) {
    StorePosition position = from;
    LivePage<StorePosition> page;
    do {
      page = source.page(position, limit);
      Rows<StorePosition> rows = page.rows();
      for (int row = 0; row < rows.size(); row++) {
        assertThat(rows.at(row)).isGreaterThan(position);
        position = rows.at(row);
        into.add(text(rows, row));
      }
      assertThat(page.next()).isGreaterThanOrEqualTo(position);
      position = page.next();
    } while (!page.reachedEnd());
    return position;
  }

  static List<String> texts(Rows<StorePosition> rows) {
    return IntStream.range(0, rows.size()).mapToObj(row -> text(rows, row)).toList();
  }

  private static String text(Rows<StorePosition> rows, int row) {
    if (rows.isLeft(row)) {
      return "left " + rows.database(row);
    }
    int length = rows.end(row) - rows.start(row);
    String json = new String(rows.json(), rows.start(row), length, StandardCharsets.UTF_8);
    Matcher id = ID.matcher(json);
    assertThat(id.find()).isTrue();
    return rows.database(row) + " " + id.group(1);
  }

  @ParameterizedTest
  @CsvSource({
    "user-*, user-, true",
    "user-*, user-7, true",
    "user-*, user-a/b, true",
    "user-*, user, false",
    "user-*, super-user-7, false",
    "*, anything, true",
    "*-log, a-log, true",
    "*-log, a-logs, false",
    "a*a, a, false",
    "a*a, aa, true",
    "a*b*c, abc, true",
    "a*b*c, axbxbxc, true",
    "a*b*c, acb, false",
    "a*bc*c, abc, false",
    "a**b, ab, true",
    "plain, plain, true",
    "plain, plainer, false",
  })
  void star_stands_for_any_run_of_characters(String pattern, String name, boolean contained) {
    assertThat(DatabaseSet.of(List.of(pattern)).contains(DatabaseName.of(name)))
        .isEqualTo(contained);
  }

  @Test
  void it_is_the_union_of_its_members() {
    DatabaseSet set = DatabaseSet.of(List.of("a", "b*", "c*x"));
    assertThat(List.of("a", "b", "bc", "cax", "aa", "ca", "d"))
        .filteredOn(name -> set.contains(DatabaseName.of(name)))
        .containsExactly("a", "b", "bc", "cax");
  }

  @Test
  void equal_members_make_equal_sets_in_any_order() {
    DatabaseSet one = DatabaseSet.of(List.of("a", "b*", "c*"));
    DatabaseSet other = DatabaseSet.of(List.of("c*", "b*", "a", "a"));
    assertThat(one).isEqualTo(other).hasSameHashCodeAs(other);
    assertThat(one).isNotEqualTo(DatabaseSet.of(List.of("a", "b*")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "User-*", "a b*", "Upper", "_x", "ü*", "a?*"})
  void what_no_database_can_be_called_is_refused(String member) {
    assertThatThrownBy(() -> DatabaseSet.of(List.of(member))).isInstanceOf(LectusException.class);
  }

  @Test
  void patterns_match_what_regular_expressions_do() {
    Random random = new Random(4);
    for (int i = 0; i < 20_000; i++) {
      String pattern = text(random, "ab*", 1 + random.nextInt(6));
      String name = "a" + text(random, "ab", random.nextInt(8));
      boolean expected = name.matches(pattern.replace("*", ".*"));
      if (DatabasePattern.isPattern(pattern)) {
        assertThat(DatabasePattern.of(pattern).matches(DatabaseName.of(name)))
            .as(pattern + " " + name)
            .isEqualTo(expected);
      }
    }
  }

  private static String text(Random random, String alphabet, int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append(alphabet.charAt(random.nextInt(alphabet.length())));
    }
    return text.toString();
  }

  private static Versionstamp point(long high, int low) {
    byte[] bytes = new byte[12];
    for (int i = 0; i < 8; i++) {
      bytes[i] = (byte) (high >>> (56 - 8 * i));
    }
    for (int i = 0; i < 4; i++) {
      bytes[8 + i] = (byte) (low >>> (24 - 8 * i));
    }
    return new Versionstamp(bytes);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void it_does_what_a_queue_of_objects_does(long seed) {
    Random random = new Random(seed);
    PriorityQueue<Candidate> queue = new PriorityQueue<>(EARLIEST_FIRST);
    Map<DatabaseName, Candidate> changes = new HashMap<>();
    for (int i = 0; i < 30_000; i++) {
      // It grows at first and is emptied in the end.
      int action = random.nextInt(i < 15_000 ? 14 : 30);
      DatabaseName name = DatabaseName.of("n" + Integer.toString(random.nextInt(4_000), 36));
      if (action < 8) {
        Candidate added = new Candidate(name, kind(random), point(random.nextLong(), i));
        if (added.kind() != Candidate.Kind.END) {
          queue.remove(changes.put(name, added));
        }
        candidates.add(added);
        queue.add(added);
      } else if (action < 10) {
        queue.remove(changes.remove(name));
        candidates.add(end(name), Versionstamp.ZERO, Versionstamp.END);
      } else {
        Candidate first = queue.poll();
        if (first != null && first.kind() != Candidate.Kind.END) {
          changes.remove(first.name());
        }
        assertThat(candidates.poll()).isEqualTo(first);
      }
      assertThat(candidates.size()).isEqualTo(queue.size());
      assertThat(candidates.peek()).isEqualTo(queue.peek());
    }
    while (!queue.isEmpty()) {
      assertThat(candidates.poll()).isEqualTo(queue.poll());
    }
    assertThat(candidates.poll()).isNull();
  }

  private static Candidate.Kind kind(Random random) {
    return Candidate.Kind.values()[random.nextInt(Candidate.Kind.values().length)];
  }

  /** Returns the end of a database that its reader does not know: its changes are forgotten. */
  private static DatabaseUpdate end(DatabaseName name) {
    return new DatabaseUpdate(
        point(1, 1), DatabaseUpdate.Kind.DELETED, new InstanceId("i"), name, point(1, 0));
  }

  @Test
  void candidates_count_while_they_are_kept_and_once_however_often_they_move() {
    int count = 1_000;
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < count; i++) {
        candidates.add(
            Candidate.somewhere(DatabaseName.of("user-" + i), point(i * 7919L % count, round)));
      }
      assertThat(candidates.size()).isEqualTo(count);
      assertThat(memory.taken.get()).isBetween(200L * count, 250L * count);
    }
    candidates.keepFirst(count / 2);
    assertThat(candidates.horizon()).isEqualTo(point(count / 2, 2));
    assertThat(memory.taken.get()).isBetween(200L * count / 2, 250L * count / 2);
    candidates.drop();
    assertThat(memory.taken.get()).isZero();
  }
}
