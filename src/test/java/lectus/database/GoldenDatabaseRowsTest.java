package lectus.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import lectus.database.Catalogue.DatabaseInstance;
import lectus.database.DeletedSubspace.Deleted;
import lectus.database.Incarnations.Incarnation;
import lectus.database.Incarnations.Origin;
import lectus.database.RelocationsSubspace.Arrival;
import lectus.database.RelocationsSubspace.Attempt;
import lectus.database.RelocationsSubspace.Departure;
import lectus.database.RelocationsSubspace.OtherPlace;
import lectus.database.RelocationsSubspace.Phase;
import lectus.database.RelocationsSubspace.Reached;
import lectus.database.RelocationsSubspace.Standing;
import lectus.database.ShardTopology.EmptiedGenerations;
import lectus.database.ShardTopology.Generation;
import lectus.database.ShardTopology.HashScheme;
import lectus.database.Validator.Declaration;
import lectus.database.Whereabouts.Secret;
import lectus.derived.Derived;
import lectus.derived.FeedDefinition;
import lectus.derived.IndexDefinition;
import lectus.derived.StoredFeed;
import lectus.derived.StoredFeed.Removal;
import lectus.derived.StoredIndex;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.json.MalformedTupleException;
import lectus.json.TupleWriter;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;
import lectus.store.testing.GoldenRows;
import lectus.store.testing.TestStores;
import lectus.store.testing.WrittenRows;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The exact bytes of the catalogue, the updates log and the description of a database. */
final class GoldenDatabaseRowsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final InstanceId INSTANCE = new InstanceId("00112233445566778899aabbccddeeff");
  private static final DatabaseName NAME = DatabaseName.of("a/b");

  private final Store store = stores.fresh();

  /** Everything written lies below it, and nothing else does. */
  private final byte[] root = new TupleWriter(store.rootPrefix()).string("golden").toBytes();

  private final Versionstamp fixed =
      new Versionstamp(HexFormat.of().parseHex("000102030405060708090a0b"));

  private WrittenRows written(Consumer<Transaction> encoder) {
    return WrittenRows.of(store, Range.startsWith(root), encoder);
  }

  private byte[] database(String name) {
    return new TupleWriter(root).string(name).toBytes();
  }

  @Test
  void the_catalogue() {
    CatalogueSubspace catalogue = new CatalogueSubspace(root);
    byte[] prefix = {0x15, 0x2a};
    WrittenRows written =
        written(tx -> catalogue.enter(tx, "a/b", INSTANCE, prefix, 1_700_000_000));
    GoldenRows golden = GoldenRows.of("CatalogueSubspace", root, written.stamp());

    golden.assertAre(written.rows());
    KeyValue row = golden.row("one life of a database");
    assertThat(catalogue.name(row.getKey())).isEqualTo(NAME);
    CatalogueSubspace.Entry entry = catalogue.entry(row.getValue());
    assertThat(entry.instance()).isEqualTo(INSTANCE);
    assertThat(entry.prefix()).isEqualTo(prefix);
    assertThat(entry.createdAtSeconds()).isEqualTo(1_700_000_000);
    assertThat(entry.joined()).isEqualTo(Versionstamp.of(written.stamp()));
  }

  @Test
  void restores() {
    RestoresSubspace restores = new RestoresSubspace(root);
    DatabaseInstance life =
        new DatabaseInstance(NAME, INSTANCE, new byte[] {0x15, 0x2a}, Versionstamp.ZERO);
    WrittenRows written = written(tx -> restores.put(tx, life, 77));
    GoldenRows golden = GoldenRows.of("RestoresSubspace", root, new byte[0]);

    golden.assertAre(written.rows());
    assertThat(restores.decode(golden.row("a restore")))
        .usingRecursiveComparison()
        .isEqualTo(new RestoresSubspace.Restore(life, 77));
  }

  @Test
  void relocations() {
    RelocationsSubspace rows = new RelocationsSubspace(root);
    OtherPlace other = new OtherPlace("http://h/", NAME, "u", new Secret("p"));
    Departure leaving =
        new Departure(
            "r",
            Phase.COPYING,
            NAME,
            INSTANCE,
            other,
            new Secret("s"),
            300,
            7,
            true,
            1_700_000_000,
            "why",
            OptionalLong.of(60));
    DatabaseInstance life =
        new DatabaseInstance(NAME, INSTANCE, new byte[] {0x15, 0x2a}, Versionstamp.ZERO);
    Optional<Sequence> last = Optional.of(new Sequence(2, fixed.bytes()));
    Arrival arriving =
        new Arrival(Standing.READY, Optional.of(life), 1_700_000_000, 8, last, Optional.empty());
    Reached reached = new Reached(new byte[] {1, 2}, "d", "u");
    Arrival broken =
        new Arrival(
            Standing.RECEIVING, Optional.of(life), 0, 0, Optional.empty(), Optional.of(reached));
    Arrival aborted = Arrival.without(Standing.ABORTED);
    WrittenRows written =
        written(
            tx -> {
              rows.put(tx, leaving);
              rows.put(tx, new Attempt("r", 300), arriving);
              rows.put(tx, new Attempt("r", 301), aborted);
              rows.abort(tx, new Attempt("r", 302), 300);
              rows.put(tx, new Attempt("r", 303), broken);
              rows.reserve(tx, life);
            });
    GoldenRows golden = GoldenRows.of("RelocationsSubspace", root, new byte[0]);

    golden.assertAre(written.rows());
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    List<Departure> departures = transactions.read(rows::departures);
    assertThat(departures).containsExactly(leaving);
    Optional<Arrival> ready = transactions.read(tx -> rows.arrival(tx, new Attempt("r", 300)));
    assertThat(ready).usingRecursiveComparison().isEqualTo(Optional.of(arriving));
    for (long attempt : List.of(301L, 302L)) {
      Optional<Arrival> none = transactions.read(tx -> rows.arrival(tx, new Attempt("r", attempt)));
      assertThat(none).contains(aborted);
    }
    Optional<Arrival> left = transactions.read(tx -> rows.arrival(tx, new Attempt("r", 303)));
    assertThat(left).usingRecursiveComparison().isEqualTo(Optional.of(broken));
    written.rows().forEach(rows::check);
    Departure over = leaving.in(Phase.MOVED, "");
    assertThat(over.other()).isEqualTo(new OtherPlace("http://h/", NAME, "", new Secret("")));
    assertThat(leaving.toString()).contains("a secret").doesNotContain("=s,");
  }

  @Test
  void deleted_databases() {
    DeletedSubspace rows = new DeletedSubspace(root);
    byte[] prefix = {0x15, 0x2a};
    Deleted deleted =
        new Deleted(
            new DatabaseInstance(NAME, INSTANCE, prefix, fixed), 1_800_000_000, 1_700_000_000);
    WrittenRows written = written(tx -> rows.put(tx, deleted));
    GoldenRows golden = GoldenRows.of("DeletedSubspace", root, written.stamp());

    golden.assertAre(written.rows());
    Deleted decoded = rows.decode(golden.row("a database that was deleted"));
    assertThat(decoded.life().name()).isEqualTo(NAME);
    assertThat(decoded.life().instance()).isEqualTo(INSTANCE);
    assertThat(decoded.life().prefix()).isEqualTo(prefix);
    assertThat(decoded.life().joined()).isEqualTo(fixed);
    assertThat(decoded.createdAtSeconds()).isEqualTo(1_700_000_000);
    assertThat(decoded.timestamp()).isEqualTo("2027-01-15T08:00:00Z");
    assertThat(DeletedSubspace.seconds(decoded.timestamp())).hasValue(1_800_000_000);
    assertThat(DeletedSubspace.seconds("2027-01-15T08:00:00.5Z")).isEmpty();
    assertThat(DeletedSubspace.seconds("2027-01-15T09:00:00+01:00")).isEmpty();
  }

  @Test
  void the_updates_log() {
    UpdatesSubspace log = new UpdatesSubspace(root);
    DatabaseUpdate moved =
        new DatabaseUpdate(fixed, DatabaseUpdate.Kind.UPDATED, INSTANCE, NAME, fixed);
    // Rows of one transaction and one bucket have the same key, so each has its own bucket.
    InstanceId updated = new InstanceId("00112233445566778899aabbccddeef0");
    InstanceId deleted = new InstanceId("00112233445566778899aabbccddeef1");
    WrittenRows written =
        written(
            tx -> {
              log.created(tx, INSTANCE, NAME);
              log.updated(tx, updated, NAME);
              log.deleted(tx, deleted, NAME, fixed, Optional.of(SecurityObject.ADMIN_ONLY));
              log.put(tx, moved);
            });
    GoldenRows golden = GoldenRows.of("UpdatesSubspace", root, written.stamp());

    golden.assertAre(written.rows());
    Versionstamp at = Versionstamp.of(written.stamp());
    assertThat(log.decode(UpdatesSubspace.bucketOf(INSTANCE), golden.row("created")))
        .isEqualTo(new DatabaseUpdate(at, DatabaseUpdate.Kind.CREATED, INSTANCE, NAME, at));
    assertThat(log.decode(UpdatesSubspace.bucketOf(updated), golden.row("updated")))
        .isEqualTo(new DatabaseUpdate(at, DatabaseUpdate.Kind.UPDATED, updated, NAME, at));
    assertThat(log.decode(UpdatesSubspace.bucketOf(deleted), golden.row("deleted")))
        .isEqualTo(
            new DatabaseUpdate(
                at,
                DatabaseUpdate.Kind.DELETED,
                deleted,
                NAME,
                fixed,
                Optional.of(SecurityObject.ADMIN_ONLY)));
    assertThat(log.decode(UpdatesSubspace.bucketOf(INSTANCE), golden.row("updated, compacted")))
        .isEqualTo(moved);
  }

  @Test
  void the_version_of_the_catalogue() {
    CatalogueVersion version = new CatalogueVersion(root);
    WrittenRows written = written(version::move);
    GoldenRows golden = GoldenRows.of("CatalogueVersion", root, written.stamp());

    golden.assertAre(written.rows());
    assertThat(CatalogueVersion.text(golden.value("the last creation or deletion")))
        .isEqualTo(HexFormat.of().formatHex(written.stamp()));
  }

  private static JsonObject json(String text) {
    return (JsonObject) JsonValue.parse(text.getBytes(StandardCharsets.UTF_8));
  }

  private static StoredIndex index(long number, boolean partitioned) {
    Optional<JsonObject> filter =
        Optional.of(json("{\"b\":{\"$gt\":1}}")).filter(it -> partitioned);
    return new StoredIndex(
        number,
        new IndexDefinition("_design/d", "n", List.of("a", "b.c"), "asc", filter, partitioned),
        !partitioned);
  }

  private static StoredFeed feed(long number, FeedDefinition definition, boolean isReadable) {
    Removal former = new Removal(1, Versionstamp.upTo(1_000));
    return new StoredFeed(number, definition, isReadable, former);
  }

  @Test
  void indexes_and_stored_feeds() {
    byte[] prefix = database("a");
    DerivedSubspace derived = new DerivedSubspace(prefix);
    Map<String, Derived> all = new LinkedHashMap<>();
    all.put("an index, readable", index(1, false));
    all.put("an index with a filter, of partitions, being built", index(300, true));
    all.put(
        "a stored feed of a selector, readable",
        feed(2, FeedDefinition.ofSelector("n", json("{\"b\":{\"$gt\":1}}")), true));
    all.put(
        "a stored feed of channels, being filled",
        feed(301, FeedDefinition.ofChannels("n", "a.b"), false));
    WrittenRows written =
        written(
            tx -> {
              assertThat(derived.nextNumber(tx)).isEqualTo(1);
              assertThat(derived.nextNumber(tx)).isEqualTo(2);
              all.values().forEach(it -> derived.put(tx, it));
              derived.clear(tx, 300, feed(7, FeedDefinition.ofChannels("x", "a"), true));
              derived.clear(tx, 300, index(8, false));
            });
    GoldenRows golden = GoldenRows.of("DerivedSubspace", prefix, written.stamp());

    golden.assertAre(written.rows());
    all.forEach(
        (title, one) -> {
          Derived decoded = derived.decode(golden.row(title));
          assertThat(decoded).isEqualTo(one);
          assertThat(decoded.definition().kind()).isEqualTo(one.definition().kind());
          assertThat(decoded.isReadable()).isEqualTo(one.isReadable());
        });
    KeyValue removed = golden.row("when a stored feed was removed");
    derived.checkNumber(golden.row("the highest number"));
    derived.checkNumber(removed);
    byte[] longer = new TupleWriter(removed.getValue()).integer(7).toBytes();
    assertThatThrownBy(() -> derived.checkNumber(new KeyValue(removed.getKey(), longer)))
        .isInstanceOf(MalformedTupleException.class);
  }

  @Test
  void a_configuration() {
    byte[] sharded = database("a");
    byte[] former = database("b");
    DatabaseConfiguration configuration = new DatabaseConfiguration(999, true);
    Generation first =
        new Generation(
            Optional.empty(),
            HashScheme.DEFAULT,
            List.of(new ShardId("1"), new ShardId("2")),
            false);
    Generation second =
        new Generation(Optional.empty(), HashScheme.DEFAULT, List.of(new ShardId("3")), false);
    Sequence since = new Sequence(0, fixed.bytes());
    EmptiedGenerations emptied = new EmptiedGenerations(Optional.of(since), true, 1, 300);
    Whereabouts frozen = new Whereabouts.Frozen("r1", "http://h/a");
    Whereabouts moved =
        new Whereabouts.Moved("r2", "http://h/b", new Secret("s"), OptionalLong.of(300));
    Incarnation made = new Incarnation(0, Origin.CREATED, fixed, Optional.empty());
    WrittenRows written =
        written(
            tx -> {
              ConfigSubspace.create(
                  tx, sharded, configuration, new ShardTopology(List.of(first), true));
              ConfigSubspace.put(tx, sharded, made);
              ConfigSubspace.begin(tx, sharded, 300, Origin.RESTORED, Optional.of(since));
              ConfigSubspace.update(tx, sharded, configuration.withPurgedInfosLimit(70_000));
              tx.set(
                  ConfigSubspace.securityKey(sharded),
                  ConfigSubspace.security("{}".getBytes(StandardCharsets.UTF_8)));
              ConfigSubspace.reshard(tx, sharded, 0, first.asReplaced(), second);
              ConfigSubspace.reshard(tx, former, 0, Generation.UNSHARDED.asReplaced(), second);
              ConfigSubspace.putEmptied(tx, former, emptied);
              ConfigSubspace.put(tx, sharded, frozen);
              ConfigSubspace.put(tx, former, moved);
              ConfigSubspace.vouch(tx, former, new Secret("v"));
            });
    GoldenRows golden = GoldenRows.of("ConfigSubspace", root, written.stamp());
    golden.assertAre(written.rows());

    Sequence reshardedAt = Sequence.of(0, written.stamp(), 0);
    Generation current =
        new Generation(Optional.of(reshardedAt), HashScheme.DEFAULT, second.shards(), false);
    ConfigSubspace.Content content = ConfigSubspace.read(sharded, below(sharded, written));
    assertThat(content.configuration()).isEqualTo(configuration.withPurgedInfosLimit(70_000));
    assertThat(content.topology().generations()).containsExactly(first.asReplaced(), current);
    assertThat(content.incarnations())
        .containsExactly(
            made,
            new Incarnation(
                300, Origin.RESTORED, Versionstamp.of(written.stamp()), Optional.of(since)));
    assertThat(content.version()).isEqualTo(golden.value("when the configuration changed"));
    assertThat(ConfigSubspace.securityJson(golden.value("the security object")))
        .asString(StandardCharsets.UTF_8)
        .isEqualTo("{}");
    assertThat(content.whereabouts()).isEqualTo(frozen);
    assertThat(content.voucher()).isEmpty();
    ConfigSubspace.Content other = ConfigSubspace.read(former, below(former, written));
    assertThat(other.topology().generations())
        .containsExactly(Generation.UNSHARDED.asReplaced(), current);
    assertThat(other.whereabouts()).isEqualTo(moved);
    assertThat(other.voucher()).contains(new Secret("v"));
  }

  private static List<KeyValue> below(byte[] prefix, WrittenRows written) {
    Range range = ConfigSubspace.range(prefix);
    return written.rows().stream()
        .filter(
            row ->
                Arrays.compareUnsigned(row.getKey(), range.begin) >= 0
                    && Arrays.compareUnsigned(row.getKey(), range.end) < 0)
        .toList();
  }

  @Test
  void counters() {
    byte[] db = database("a");
    byte[] documents = StatisticsSubspace.key(db, StatisticsSubspace.Counter.DOCUMENTS, 0);
    byte[] bytes = StatisticsSubspace.key(db, StatisticsSubspace.Counter.ACTIVE_BYTES, 15);
    byte[] entries = StatisticsSubspace.entriesKey(db, new ShardId("12"), 15);
    byte[] partition =
        StatisticsSubspace.partitionKey(
            db, Partition.of("p"), StatisticsSubspace.Counter.DELETED_DOCUMENTS, 3);
    GoldenRows golden = GoldenRows.of("StatisticsSubspace", root, new byte[0]);

    golden.assertAre(
        List.of(
            new KeyValue(documents, StatisticsSubspace.littleEndian(1)),
            new KeyValue(bytes, StatisticsSubspace.littleEndian(-2)),
            new KeyValue(entries, StatisticsSubspace.littleEndian(0x0102030405060708L)),
            new KeyValue(partition, StatisticsSubspace.littleEndian(256))));
    assertThat(StatisticsSubspace.number(golden.value("active bytes in the last slot")))
        .isEqualTo(-2);
    assertThat(StatisticsSubspace.nameOf(db, golden.key("entries of shard 12")))
        .contains("entries of the shard 12 in slot 15");
    assertThat(StatisticsSubspace.nameOf(db, golden.key("deleted documents of partition p")))
        .contains("deleted documents of the partition p in slot 3");
    // The slot that counts a document is stored, too.
    assertThat(Stream.of("", "a", "doc-17", "ü").map(StatisticsSubspace::slotOf))
        .containsExactly(0, 1, 5, 12);
  }

  @Test
  void design_documents_that_ask_for_validation() {
    byte[] db = database("a");
    ValidatorsSubspace validators = new ValidatorsSubspace(db);
    Declaration declared = Declaration.of("{\"newDoc\":{}}".getBytes(StandardCharsets.UTF_8));
    WrittenRows written =
        written(
            tx -> {
              validators.add(tx, 0, "_design/q", "2-b", Optional.of(declared), 1);
              validators.add(tx, 0, "_design/v", "1-a", Optional.empty(), 2);
            });
    GoldenRows golden = GoldenRows.of("ValidatorsSubspace", root, written.stamp());

    golden.assertAre(written.rows());
    assertThat(validators.decode(golden.row("a selector")))
        .isEqualTo(
            new Validator(
                "_design/q", "2-b", Sequence.of(0, written.stamp(), 1), Optional.of(declared)));
    assertThat(validators.decode(golden.row("a function")))
        .isEqualTo(
            new Validator(
                "_design/v", "1-a", Sequence.of(0, written.stamp(), 2), Optional.empty()));
  }

  @Test
  void sequences_as_text() {
    List<Sequence> sequences =
        Stream.of(0, 1, 256).map(incarnation -> new Sequence(incarnation, fixed.bytes())).toList();
    GoldenRows golden = GoldenRows.of("Sequence");

    golden.assertAre(
        sequences.stream()
            .map(it -> new KeyValue(new byte[0], HexFormat.of().parseHex(it.toString())))
            .toList());
    for (Sequence sequence : sequences) {
      byte[] text = golden.value("incarnation " + sequence.incarnation());
      assertThat(Sequence.parse(HexFormat.of().formatHex(text))).contains(sequence);
    }
  }
}
