package lectus.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import lectus.database.Catalogue.DatabaseInstance;
import lectus.database.Incarnations.Incarnation;
import lectus.database.Incarnations.Origin;
import lectus.database.ShardTopology.Generation;
import lectus.database.ShardTopology.HashScheme;
import lectus.database.UserContext.DatabaseRight;
import lectus.database.Whereabouts.Secret;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class CatalogueTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final DatabaseName NAME = DatabaseName.of("animals");

  private static final InstantSource NOON =
      InstantSource.fixed(Instant.ofEpochSecond(1_795_253_100));

  private TransactionRunner transactions;
  private Catalogue here;
  private Catalogue there;

  @BeforeEach
  void two_servers_on_one_store() {
    Store store = stores.fresh();
    transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    here = new Catalogue(store, transactions, NOON);
    there = new Catalogue(store, transactions, NOON);
  }

  @Test
  void a_new_database_has_the_default_configuration() {
    DatabaseHandle db = here.create(NAME, CreationOptions.DEFAULT);
    assertThat(db.configuration()).isEqualTo(DatabaseConfiguration.DEFAULT);
    assertThat(db.incarnation()).isZero();
    assertThat(db.createdAtSeconds()).isEqualTo(1_795_253_100);
    assertThat(db.topology().generations())
        .containsExactly(
            new Generation(
                Optional.empty(), HashScheme.JUMP_CRC32, List.of(new ShardId("0")), false));
  }

  private static final String PLACE = "http://localhost:5984/animals";
  private static final Whereabouts FROZEN = new Whereabouts.Frozen("r1", PLACE);

  private static final Whereabouts MOVED =
      new Whereabouts.Moved("r1", PLACE, new Secret("s"), OptionalLong.of(7));

  @Test
  void a_database_is_here_until_it_moves() {
    assertThat(here.create(NAME, CreationOptions.DEFAULT).whereabouts())
        .isEqualTo(Whereabouts.HERE);
    assertThat(there.open(NAME).voucher()).isEmpty();
    transactions.run(
        tx -> {
          here.vouch(tx, here.current(tx, NAME), new Secret("v"));
          return null;
        });
    assertThat(there.open(NAME).voucher()).contains(new Secret("v"));
    assertThat(there.open(NAME).toString()).contains("voucher=Optional[a secret]");
  }

  @Test
  void a_frozen_database_is_read_and_takes_no_writes_on_any_server() {
    here.create(NAME, CreationOptions.DEFAULT);
    there.open(NAME);
    here.relocate(NAME, FROZEN);
    assertThat(there.open(NAME).whereabouts()).isEqualTo(FROZEN);
    List<Runnable> writes =
        List.of(
            () -> there.configure(NAME, was -> was.withRevsLimit(7)),
            () -> there.secure(NAME, "{}".getBytes(StandardCharsets.UTF_8)),
            () -> there.reshard(NAME, 2),
            () -> there.delete(NAME),
            () -> transactions.run(tx -> there.currentForChanges(tx, NAME)));
    for (Runnable write : writes) {
      assertThat(errorOf(write))
          .isEqualTo(
              new LectusError.Unavailable(
                  "The database moves to " + PLACE + " and takes no writes until it is there."));
    }
    DatabaseHandle read = transactions.run(tx -> there.currentForUpkeep(tx, NAME));
    assertThat(read.name()).isEqualTo(NAME);
    here.relocate(NAME, Whereabouts.HERE);
    there.configure(NAME, was -> was.withRevsLimit(7));
    assertThat(here.open(NAME).configuration().revsLimit()).isEqualTo(7);
  }

  @Test
  void a_writer_that_has_not_committed_when_its_database_is_frozen_writes_nothing() {
    here.create(NAME, CreationOptions.DEFAULT);
    List<String> attempts = new ArrayList<>();
    assertThat(
            errorOf(
                () ->
                    transactions.run(
                        tx -> {
                          DatabaseHandle db = there.currentForChanges(tx, NAME);
                          tx.set(db.prefix(), new byte[0]);
                          attempts.add("");
                          here.relocate(NAME, FROZEN);
                          return null;
                        })))
        .isInstanceOf(LectusError.Unavailable.class);
    assertThat(attempts).hasSize(1);
  }

  @Test
  void a_database_that_has_moved_is_found_nowhere_and_keeps_its_name() {
    here.create(NAME, CreationOptions.DEFAULT);
    there.open(NAME);
    here.relocate(NAME, MOVED);
    LectusError error = new LectusError.NotFound("The database has moved to " + PLACE + ".");
    assertThat(errorOf(() -> there.open(NAME))).isEqualTo(error);
    assertThat(errorOf(() -> there.configure(NAME, was -> was))).isEqualTo(error);
    assertThat(there.glimpses(List.of(NAME))).isEmpty();
    List<Optional<DatabaseHandle>> all =
        transactions.read(tx -> there.currentAll(tx, List.of(NAME)));
    assertThat(all).containsExactly(Optional.empty());
    assertThat(transactions.read(tx -> there.locate(tx, NAME)).orElseThrow().whereabouts())
        .isEqualTo(MOVED);
    assertThat(errorOf(() -> there.create(NAME, CreationOptions.DEFAULT)))
        .isInstanceOf(LectusError.PreconditionFailed.class);
    there.delete(NAME);
    assertThat(there.create(NAME, CreationOptions.DEFAULT).whereabouts())
        .isEqualTo(Whereabouts.HERE);
  }

  @Test
  void creation_options_are_kept() {
    here.create(NAME, new CreationOptions(true, 3));
    DatabaseHandle db = there.open(NAME);
    assertThat(db.configuration().partitioned()).isTrue();
    assertThat(db.topology().current().shards())
        .containsExactly(new ShardId("0"), new ShardId("1"), new ShardId("2"));
  }

  @Test
  void shards_number_1_to_1024() {
    assertThat(here.create(NAME, new CreationOptions(false, 1024)).topology().current().shards())
        .hasSize(1024);
    for (int shards : new int[] {0, 1025}) {
      assertThatThrownBy(() -> new CreationOptions(false, shards))
          .isInstanceOf(LectusException.class);
    }
  }

  @Test
  void a_name_is_taken_once() {
    here.create(NAME, CreationOptions.DEFAULT);
    assertThat(errorOf(() -> there.create(NAME, CreationOptions.DEFAULT)))
        .isEqualTo(
            new LectusError.PreconditionFailed(
                "file_exists", "The database could not be created, the file already exists."));
  }

  @Test
  void of_many_servers_that_create_one_name_one_succeeds() throws Exception {
    List<Callable<Boolean>> attempts = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Catalogue catalogue = i % 2 == 0 ? here : there;
      attempts.add(() -> succeeds(() -> catalogue.create(NAME, CreationOptions.DEFAULT)));
    }
    assertThat(inParallel(attempts)).containsOnlyOnce(true);
  }

  @Test
  void databases_created_at_once_share_no_prefix() throws Exception {
    List<Callable<DatabaseHandle>> attempts =
        IntStream.range(0, 40)
            .mapToObj(
                i ->
                    (Callable<DatabaseHandle>)
                        () -> here.create(DatabaseName.of("db" + i), CreationOptions.DEFAULT))
            .toList();
    List<String> prefixes = new ArrayList<>();
    for (DatabaseHandle db : inParallel(attempts)) {
      prefixes.add(java.util.HexFormat.of().formatHex(db.prefix()));
    }
    for (String one : prefixes) {
      assertThat(prefixes.stream().filter(other -> other.startsWith(one))).containsExactly(one);
    }
  }

  @Test
  void what_was_never_created_or_is_deleted_is_not_found() {
    LectusError absent = new LectusError.NotFound("Database does not exist.");
    assertThat(errorOf(() -> here.open(NAME))).isEqualTo(absent);
    assertThat(errorOf(() -> here.delete(NAME))).isEqualTo(absent);
    here.create(NAME, CreationOptions.DEFAULT);
    there.open(NAME);
    here.delete(NAME);
    assertThat(errorOf(() -> there.open(NAME))).isEqualTo(absent);
    assertThat(errorOf(() -> here.open(NAME))).isEqualTo(absent);
  }

  @Test
  void deleting_leaves_no_key_of_the_database() {
    byte[] prefix = here.create(NAME, CreationOptions.DEFAULT).prefix();
    here.delete(NAME);
    assertThat(transactions.<Integer>read(tx -> rowsUnder(tx, prefix))).isZero();
  }

  @Test
  void created_again_it_is_another_database_to_a_server_that_knew_the_old_one() {
    DatabaseHandle old = there.create(NAME, CreationOptions.DEFAULT);
    here.delete(NAME);
    DatabaseHandle now = here.create(NAME, CreationOptions.DEFAULT);
    assertThat(now.instance()).isNotEqualTo(old.instance());
    assertThat(there.open(NAME)).isEqualTo(there.open(NAME));
    assertThat(there.open(NAME).instance()).isEqualTo(now.instance());
    assertThat(there.open(NAME).prefix()).isNotEqualTo(old.prefix());
  }

  @Test
  void a_write_through_a_stale_handle_cannot_commit() {
    there.create(NAME, CreationOptions.DEFAULT);
    List<DatabaseHandle> written = new ArrayList<>();
    transactions.run(
        tx -> {
          DatabaseHandle db = there.current(tx, NAME);
          there.guard(tx, db);
          if (written.isEmpty()) {
            // Another server replaces the database between this transaction's read version and its
            // commit.
            here.delete(NAME);
            here.create(NAME, CreationOptions.DEFAULT);
          }
          written.add(db);
          tx.set(mark(db), new byte[] {1});
          return null;
        });
    assertThat(written).hasSize(2);
    assertThat(transactions.<Integer>read(tx -> rowsUnder(tx, written.get(0).prefix()))).isZero();
    assertThat(transactions.<byte[]>read(tx -> tx.get(mark(written.get(1))).join())).isNotNull();
    assertThat(written.get(1).instance()).isEqualTo(here.open(NAME).instance());
  }

  @Test
  void a_write_loses_against_a_change_of_its_own_database_but_not_of_another() {
    DatabaseName other = DatabaseName.of("plants");
    here.create(NAME, CreationOptions.DEFAULT);
    here.create(other, CreationOptions.DEFAULT);
    assertThat(runsUntilStored(() -> here.configure(other, db -> withRevsLimit(7)))).isEqualTo(1);
    assertThat(runsUntilStored(() -> here.configure(NAME, db -> withRevsLimit(7)))).isEqualTo(2);
  }

  @Test
  void a_changed_configuration_reaches_the_other_servers() {
    here.create(NAME, CreationOptions.DEFAULT);
    assertThat(there.open(NAME).configuration().revsLimit()).isEqualTo(1000);
    here.configure(NAME, db -> withRevsLimit(4000));
    assertThat(there.open(NAME).configuration().revsLimit()).isEqualTo(4000);
  }

  @Test
  void the_security_object_is_kept_as_it_is() {
    here.create(NAME, CreationOptions.DEFAULT);
    assertThat(new String(there.security(NAME), StandardCharsets.UTF_8))
        .isEqualTo("{\"members\":{\"roles\":[\"_admin\"]},\"admins\":{\"roles\":[\"_admin\"]}}");
    byte[] json = "{\"admins\":{\"names\":[\"j\u00e4n\"]}}".getBytes(StandardCharsets.UTF_8);
    here.secure(NAME, json);
    assertThat(there.security(NAME)).isEqualTo(json);
  }

  @Test
  void a_changed_security_object_reaches_the_handles_of_other_servers() {
    here.create(NAME, CreationOptions.DEFAULT);
    assertThat(there.open(NAME).security()).isEmpty();
    here.secure(NAME, "{}".getBytes(StandardCharsets.UTF_8));
    assertThat(there.open(NAME).security()).contains(SecurityObject.EVERYBODY);
    here.secure(NAME, "{\"members\":{\"names\":[\"a\"]}}".getBytes(StandardCharsets.UTF_8));
    assertThat(there.open(NAME).security().orElseThrow().rightOf(UserContext.ANONYMOUS))
        .isEqualTo(DatabaseRight.NONE);
  }

  @Test
  void a_write_loses_against_a_change_of_the_security_object() {
    here.create(NAME, CreationOptions.DEFAULT);
    byte[] json = "{}".getBytes(StandardCharsets.UTF_8);
    assertThat(runsUntilStored(() -> here.secure(NAME, json))).isEqualTo(2);
  }

  @Test
  void a_malformed_security_object_is_not_stored() {
    here.create(NAME, CreationOptions.DEFAULT);
    byte[] json = "{\"members\":{\"names\":1}}".getBytes(StandardCharsets.UTF_8);
    assertThatThrownBy(() -> here.secure(NAME, json)).hasMessageStartingWith("bad_request: names");
    assertThat(here.open(NAME).security()).isEmpty();
  }

  @Test
  void names_are_listed_in_order_in_both_directions_with_bounds() {
    List.of("b", "a", "c", "a/b", "a_b").forEach(this::create);
    assertThat(names(NameRange.ALL)).containsExactly("a", "a/b", "a_b", "b", "c");
    assertThat(names(new NameRange(Optional.empty(), Optional.empty(), true, 0, 2)))
        .containsExactly("c", "b");
    assertThat(names(new NameRange(Optional.of("a/b"), Optional.of("b"), false, 1, 10)))
        .containsExactly("a_b", "b");
    assertThat(names(new NameRange(Optional.of("b"), Optional.of("a/b"), true, 0, 10)))
        .containsExactly("b", "a_b", "a/b");
    assertThat(names(new NameRange(Optional.of("b"), Optional.of("a"), false, 0, 10))).isEmpty();
    assertThat(names(new NameRange(Optional.empty(), Optional.empty(), false, 0, 0))).isEmpty();
    assertThat(names(new NameRange(Optional.empty(), Optional.empty(), false, 5, 9))).isEmpty();
  }

  private int runsUntilStored(Runnable meanwhile) {
    List<Integer> runs = new ArrayList<>();
    transactions.run(
        tx -> {
          DatabaseHandle db = there.current(tx, NAME);
          there.guard(tx, db);
          if (runs.isEmpty()) {
            meanwhile.run();
          }
          runs.add(1);
          tx.set(mark(db), new byte[] {1});
          return null;
        });
    return runs.size();
  }

  private void create(String name) {
    here.create(DatabaseName.of(name), CreationOptions.DEFAULT);
  }

  private List<String> names(NameRange range) {
    List<String> names = new ArrayList<>();
    Optional<NameRange> next = Optional.of(range);
    while (next.isPresent()) {
      NameRange.Page page = here.names(next.get());
      page.names().forEach(name -> names.add(name.text()));
      next = page.next();
    }
    return names;
  }

  private static DatabaseConfiguration withRevsLimit(int limit) {
    return new DatabaseConfiguration(limit, false);
  }

  private static byte[] mark(DatabaseHandle db) {
    return DatabaseSubspace.ALL_DOCS.key(db.prefix()).string("mark").toBytes();
  }

  private static int rowsUnder(com.apple.foundationdb.ReadTransaction tx, byte[] prefix) {
    return tx.getRange(com.apple.foundationdb.Range.startsWith(prefix)).asList().join().size();
  }

  private static boolean succeeds(Runnable action) {
    try {
      action.run();
      return true;
    } catch (LectusException taken) {
      return false;
    }
  }

  private static LectusError errorOf(Runnable action) {
    try {
      action.run();
    } catch (LectusException e) {
      return e.error();
    }
    return null;
  }

  private static <T> List<T> inParallel(List<Callable<T>> actions) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(actions.size());
    try {
      List<T> results = new ArrayList<>();
      for (Future<T> result : threads.invokeAll(actions)) {
        results.add(result.get());
      }
      return Collections.unmodifiableList(results);
    } finally {
      threads.shutdown();
    }
  }

  private static final Incarnation MADE_ELSEWHERE =
      new Incarnation(0, Origin.CREATED, Versionstamp.upTo(Long.MAX_VALUE / 2), Optional.empty());

  private DatabaseInstance prepare() {
    ShardTopology topology =
        here.create(DatabaseName.of("other"), CreationOptions.DEFAULT).topology();
    return transactions.run(
        tx ->
            here.prepare(
                tx,
                NAME,
                DatabaseConfiguration.DEFAULT.withRevsLimit(7),
                topology,
                List.of(MADE_ELSEWHERE)));
  }

  @Test
  void a_life_with_a_history_is_found_when_it_appears() {
    DatabaseInstance life = prepare();
    Sequence last = new Sequence(0, Versionstamp.upTo(Long.MAX_VALUE - 1).bytes());
    assertThat(there.names(NameRange.ALL).names()).doesNotContain(NAME);
    assertThat(transactions.read(tx -> there.prepared(tx, life)).incarnation()).isZero();

    DatabaseHandle announced =
        transactions.run(tx -> here.appear(tx, life, 17, Origin.RESTORED, Optional.of(last)));
    DatabaseHandle db = there.open(NAME);
    assertThat(announced.incarnation()).isEqualTo(1);
    assertThat(db.incarnation()).isEqualTo(1);
    assertThat(db.instance()).isEqualTo(life.instance());
    assertThat(db.configuration().revsLimit()).isEqualTo(7);
    assertThat(db.createdAtSeconds()).isEqualTo(17);
    assertThat(db.incarnations().all())
        .containsExactly(
            MADE_ELSEWHERE, new Incarnation(1, Origin.RESTORED, db.joined(), Optional.of(last)));
    assertThat(db.configuredAt()).contains(new Sequence(1, db.joined().bytes()));
    assertThat(db.incarnations().placeOf(last)).isEqualTo(db.joined());
    assertThat(db.incarnations().placeOf(db.configuredAt().get())).isEqualTo(db.joined());
    assertThat(db.incarnations().isForeign(last)).isFalse();
    assertThat(db.incarnations().isForeign(new Sequence(0, db.joined().bytes()))).isTrue();
  }

  @Test
  void a_life_with_a_history_does_not_take_a_name_from_another() {
    DatabaseInstance life = prepare();
    DatabaseHandle first = here.create(NAME, CreationOptions.DEFAULT);
    assertThatThrownBy(
            () -> transactions.run(tx -> here.appear(tx, life, 17, Origin.MOVED, Optional.empty())))
        .hasMessageContaining("already exists");
    assertThat(there.open(NAME).instance()).isEqualTo(first.instance());

    transactions.run(
        tx -> {
          here.removePrepared(tx, life);
          return null;
        });
    List<KeyValue> left =
        transactions.read(
            tx -> Awaiting.await(tx.getRange(Range.startsWith(life.prefix()), 1).asList()));
    assertThat(left).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"a", "a0_$()+-/", "user/2026-11", "_users", "_replicator", "_global_changes"})
  void legal(String name) {
    assertThat(DatabaseName.of(name).text()).isEqualTo(name);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "A", "aB", "0a", "_other", "a b", "a.b", "a\n", "\u00e4", "a\u00e4", "-a"})
  void illegal(String name) {
    assertThatThrownBy(() -> DatabaseName.of(name))
        .isInstanceOf(LectusException.class)
        .hasMessageStartingWith("illegal_database_name: Name: '" + name + "'.");
  }

  @Test
  void at_most_238_characters() {
    assertThat(DatabaseName.of("a".repeat(238)).text()).hasSize(238);
    assertThatThrownBy(() -> DatabaseName.of("a".repeat(239))).isInstanceOf(LectusException.class);
  }
}
