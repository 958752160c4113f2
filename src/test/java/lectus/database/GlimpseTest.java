package lectus.database;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.StoreDatabases;
import lectus.changes.testing.MovedDatabase;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.WrappedTransactions;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a reader of many databases sees of each, and which reads that takes. */
final class GlimpseTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final int ROOMY = 1 << 20;

  private final Store store = MovedDatabase.withLongPrefixes(stores.fresh());
  private final AtomicInteger rangeReads = new AtomicInteger();
  private final StoreDatabases reader =
      new StoreDatabases(WrappedTransactions.beforeRanges(store, rangeReads::incrementAndGet));

  /** Another server. */
  private final StoreDatabases elsewhere = new StoreDatabases(store);

  private Optional<DatabaseHandle> glimpse(String name) {
    Catalogue catalogue = reader.catalogue;
    return reader.transactions.read(
        tx ->
            Awaiting.await(
                catalogue.glimpse(tx, DatabaseName.of(name), catalogue.metadataVersion(tx))));
  }

  private int rangeReads(Supplier<Optional<DatabaseHandle>> action) {
    int before = rangeReads.get();
    assertThat(action.get()).isPresent();
    return rangeReads.get() - before;
  }

  /** Each reader sees the database's current configuration, not an earlier one. */
  private void assertSeen(String name) {
    DatabaseHandle now = elsewhere.catalogue.open(DatabaseName.of(name));
    for (int i = 0; i < 2; i++) {
      DatabaseHandle seen = glimpse(name).orElseThrow();
      assertThat(seen.instance()).isEqualTo(now.instance());
      assertThat(seen.prefix()).isEqualTo(now.prefix());
      assertThat(seen.joined()).isEqualTo(now.joined());
      assertThat(seen.incarnation()).isEqualTo(now.incarnation());
      assertThat(seen.configuration()).isEqualTo(now.configuration());
      assertThat(seen.topology()).isEqualTo(now.topology());
      assertThat(seen.security()).isEqualTo(now.security());
    }
  }

  /** Whatever the layout of the run is. */
  private void createUsual(String name) {
    elsewhere.catalogue.create(DatabaseName.of(name), CreationOptions.DEFAULT);
  }

  @Test
  void the_configuration_of_one_that_is_as_usual_is_read_once() {
    createUsual("db");
    assertThat(rangeReads(() -> glimpse("db"))).isEqualTo(1);
    assertThat(rangeReads(() -> glimpse("db"))).isZero();
    createUsual("another");
    elsewhere.put("db", "doc");
    assertThat(rangeReads(() -> glimpse("db"))).as("nothing was configured").isZero();
    assertSeen("db");
  }

  @Test
  void one_with_a_security_object_is_read_once_and_again_when_that_changes() {
    createUsual("db");
    elsewhere.catalogue.secure(DatabaseName.of("db"), "{}".getBytes(StandardCharsets.UTF_8));
    assertSeen("db");
    assertThat(rangeReads(() -> glimpse("db"))).isZero();
    String members = "{\"members\":{\"names\":[\"anna\"]}}";
    elsewhere.catalogue.secure(DatabaseName.of("db"), members.getBytes(StandardCharsets.UTF_8));
    assertSeen("db");
  }

  @Test
  void one_of_another_kind_is_read_each_time() {
    elsewhere.create("sharded", 2);
    assertSeen("sharded");
    assertThat(rangeReads(() -> glimpse("sharded"))).isEqualTo(1);
    DatabaseName partitioned = DatabaseName.of("partitioned");
    elsewhere.catalogue.create(partitioned, new CreationOptions(true, 1));
    assertSeen("partitioned");
    createUsual("usual");
    elsewhere.moveIn("usual", "moved", MovedDatabase.ABOVE);
    assertSeen("moved");
    assertThat(glimpse("moved").orElseThrow().incarnation()).isEqualTo(1);
  }

  @Test
  void what_changes_elsewhere_is_seen() {
    DatabaseName name = DatabaseName.of("db");
    elsewhere.create("db");
    assertSeen("db");
    elsewhere.catalogue.configure(name, it -> it.withRevsLimit(7));
    assertSeen("db");
    elsewhere.catalogue.configure(
        name, it -> it.withRevsLimit(DatabaseConfiguration.DEFAULT_REVS_LIMIT));
    assertSeen("db");
    elsewhere.reshard("db", 1);
    assertSeen("db");
    elsewhere.delete("db");
    assertThat(glimpse("db")).isEmpty();
    elsewhere.create("db");
    assertSeen("db");
  }

  @Test
  void what_was_seen_at_another_metadata_version_is_not_used() {
    DatabaseCache.Configurations cache = new DatabaseCache.Configurations(ROOMY);
    DatabaseName name = DatabaseName.of("db");
    byte[] entry = {1};
    cache.put(name, entry, DatabaseCache.Configurations.USUAL, null);
    assertThat(cache.known(name, null).entry()).isEqualTo(entry);
    assertThat(cache.known(name, new byte[] {5})).isNull();
    cache.put(DatabaseName.of("other"), entry, DatabaseCache.Configurations.USUAL, new byte[] {5});
    assertThat(cache.known(name, new byte[] {5})).isNull();
    assertThat(cache.known(name, null)).isNull();
  }

  @Test
  void no_more_is_kept_than_its_share() {
    List<DatabaseName> names =
        IntStream.range(0, 1_000).mapToObj(i -> DatabaseName.of("d" + i)).toList();
    DatabaseCache.Configurations roomy = new DatabaseCache.Configurations(ROOMY);
    DatabaseCache.Configurations narrow = new DatabaseCache.Configurations(ROOMY / 64);
    for (DatabaseCache.Configurations cache : List.of(roomy, narrow)) {
      names.forEach(
          name -> cache.put(name, new byte[60], DatabaseCache.Configurations.USUAL, null));
    }
    assertThat(names).allMatch(name -> roomy.known(name, null) != null);
    assertThat(names.stream().filter(name -> narrow.known(name, null) != null).count())
        .isBetween(1L, ROOMY / 64 / 260L);
  }
}
