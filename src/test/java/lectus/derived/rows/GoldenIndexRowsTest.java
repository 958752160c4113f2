package lectus.derived.rows;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.RefusedSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.derived.FeedDefinition;
import lectus.derived.IndexDefinition;
import lectus.derived.StoredFeed;
import lectus.derived.StoredIndex;
import lectus.derived.rows.Belonging.Standing;
import lectus.derived.rows.FeedEntriesSubspace.FeedEntry;
import lectus.derived.rows.JobTasksSubspace.TaskProgress;
import lectus.derived.rows.JobsSubspace.Job;
import lectus.document.testing.TestDatabase;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.json.TupleWriter;
import lectus.revision.RevisionId;
import lectus.store.LeaseSubspace.Claim;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.testing.GoldenRows;
import lectus.store.testing.TestStores;
import lectus.store.testing.WrittenRows;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The bytes of rows of indexes, feeds and jobs. */
final class GoldenIndexRowsTest {
  private static final JsonObject FILTER =
      (JsonObject) JsonValue.parse("{\"b\":{\"$gt\":1}}".getBytes(StandardCharsets.UTF_8));

  private static final ChangeEntry ENTRY =
      new ChangeEntry(null, "x", RevisionId.of("2-00112233445566778899aabbccddeeff"), true, 300);

  private static final ChangeEntry LIVE = new ChangeEntry(null, "x", ENTRY.winner(), false, 300);

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();

  private final TestDatabase test = TestDatabase.create(store);

  private final DatabaseHandle db = test.catalogue.open(test.name);

  private final StoredFeed selected = feed(1, "{\"selector\":{\"b\":{\"$gt\":1}}}", true);

  private final StoredFeed channels = feed(300, "{\"channels\":\"a.b\"}", false);

  private static StoredIndex index(long number, boolean partitioned) {
    IndexDefinition definition =
        new IndexDefinition(
            "_design/d",
            "n",
            List.of("a", "b.c"),
            "asc",
            partitioned ? Optional.of(FILTER) : Optional.empty(),
            partitioned);
    return new StoredIndex(number, definition, !partitioned);
  }

  private WrittenRows written(DatabaseSubspace subspace, Consumer<Transaction> encoder) {
    return WrittenRows.of(store, subspace.range(db.prefix()), encoder);
  }

  @Test
  void entries() {
    StoredIndex plain = index(1, false);
    StoredIndex partitioned = index(2, true);
    RevisionId winner = RevisionId.of("2-00112233445566778899aabbccddeeff");
    byte[] sortKey = {1, 0, 4};
    List<byte[]> values =
        List.of(new TupleWriter(4).nil().toBytes(), new TupleWriter(4).string("x").toBytes());
    WrittenRows written =
        written(
            DatabaseSubspace.DERIVED_ROWS,
            tx -> {
              for (StoredIndex index : List.of(plain, partitioned)) {
                IndexEntriesSubspace entries = new IndexEntriesSubspace(db, index);
                tx.set(entries.key(sortKey, "p:x"), IndexEntriesSubspace.valueOf(winner, values));
              }
              tx.set(
                  new IndexEntriesSubspace(db, plain).key(sortKey, "y"),
                  IndexEntriesSubspace.valueOf(winner, List.of(new byte[0], new byte[300])));
            });
    GoldenRows golden = GoldenRows.of("IndexEntriesSubspace", db.prefix(), written.stamp());

    golden.assertAre(written.rows());
    IndexEntriesSubspace.Entry entry =
        new IndexEntriesSubspace(db, partitioned).decode(golden.row("of an index of partitions"));
    assertThat(entry.docId()).isEqualTo("p:x");
    assertThat(entry.winner()).isEqualTo(winner);
    assertThat(entry.values()).containsExactly(values.get(0), values.get(1));
    assertThat(
            new IndexEntriesSubspace(db, plain)
                .decode(golden.row("with values that are elsewhere"))
                .values())
        .containsExactly(new byte[0], new byte[0]);
  }

  @Test
  void jobs() {
    byte[] root = store.rootPrefix();
    test.put("x", "{}");
    FillingJobs jobs = new FillingJobs(root, () -> Instant.ofEpochSecond(1_700_000_000));
    WrittenRows written =
        WrittenRows.of(
            store,
            RootSubspace.JOBS.range(root),
            tx -> {
              jobs.begin(tx, db, 3);
              jobs.begin(tx, db, 300);
            });
    byte[] ofDatabase = RootSubspace.JOBS.key(root).string(db.instance().hex()).toBytes();
    GoldenRows golden = GoldenRows.of("JobsSubspace", ofDatabase, written.stamp());

    golden.assertAre(written.rows());
    assertThat(new JobsSubspace(root).decode(golden.row("with a small number")))
        .isEqualTo(
            new Job(
                db.instance(),
                3,
                db.name(),
                Sequence.of(db.incarnation(), written.stamp(), 0xffff),
                1_700_000_000,
                1));
    assertThat(new JobsSubspace(root).decode(golden.row("with a larger number")).number())
        .isEqualTo(300);
  }

  @Test
  void tasks() {
    JobTasksSubspace tasks = new JobTasksSubspace(db);
    Claim claim = new Claim("0123456789abcdef".getBytes(StandardCharsets.US_ASCII), 77);
    byte[] commit = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
    Sequence last = Sequence.of(0, commit, 2);
    TaskProgress claimed = TaskProgress.NONE.claimedBy(claim).upTo(last, 300, 2);
    TaskProgress done = TaskProgress.NONE.done();
    WrittenRows written =
        WrittenRows.of(
            store,
            DatabaseSubspace.JOB_TASKS.range(db.prefix()),
            tx -> {
              tasks.put(tx, 3, new ShardId("0"), claimed);
              tasks.put(tx, 1, ShardId.DEPRECATED, done);
            });
    GoldenRows golden = GoldenRows.of("JobTasksSubspace", db.prefix(), written.stamp());

    golden.assertAre(written.rows());
    JobTasksSubspace.Task first = tasks.decode(golden.row("claimed and on its way"));
    assertThat(first.shard()).isEqualTo(new ShardId("0"));
    assertThat(first.progress().documents()).isEqualTo(300);
    assertThat(first.progress().rows()).isEqualTo(2);
    assertThat(first.progress().last()).contains(last);
    assertThat(first.progress().claim().orElseThrow().isOf(claim.holder())).isTrue();
    KeyValue second = golden.row("done, without an entry");
    assertThat(tasks.decode(second))
        .isEqualTo(new JobTasksSubspace.Task(1, ShardId.DEPRECATED, done));
  }

  private static StoredFeed feed(long number, String json, boolean isReadable) {
    JsonObject body = (JsonObject) JsonValue.parse(json.getBytes(StandardCharsets.UTF_8));
    return new StoredFeed(
        number, FeedDefinition.parse("n", body), isReadable, StoredFeed.Removal.NONE);
  }

  @Test
  void a_refusal() {
    RefusedSubspace refused = new RefusedSubspace(db, channels);
    WrittenRows written =
        written(DatabaseSubspace.DERIVED_ROWS, tx -> refused.refusal("y", "too much").write(tx, 1));
    GoldenRows golden = GoldenRows.of("RefusedSubspace", db.prefix(), written.stamp());

    golden.assertAre(written.rows());
    assertThat(refused.decode(golden.row("refused")))
        .isEqualTo(new RefusedSubspace.Refused("y", "too much"));
  }

  @Test
  void entries_of_feeds() {
    FeedEntriesSubspace ofSelector = new FeedEntriesSubspace(db, selected);
    FeedEntriesSubspace ofChannels = new FeedEntriesSubspace(db, channels);
    WrittenRows written =
        written(
            DatabaseSubspace.DERIVED_ROWS,
            tx -> {
              ofSelector.insertion("", ENTRY, Standing.MEMBER).write(tx, 1);
              ofChannels.insertion("c", ENTRY, Standing.BESIDE).write(tx, 2);
              ofChannels.insertion("d", ENTRY, Standing.LEFT).write(tx, 3);
              ofChannels.insertion("d", LIVE, Standing.LEFT).write(tx, 4);
              ofChannels.departure(LIVE).orElseThrow().write(tx, 4);
              assertThat(ofSelector.departure(LIVE)).isEmpty();
            });
    GoldenRows golden = GoldenRows.of("FeedEntriesSubspace", db.prefix(), written.stamp());

    golden.assertAre(written.rows());
    Sequence sequence = Sequence.of(db.incarnation(), written.stamp(), 2);
    assertThat(ofChannels.decode(golden.row("beside a channel")))
        .isEqualTo(
            new FeedEntriesSubspace.Row(
                "c",
                new FeedEntry(
                    new ChangeEntry(sequence, "x", ENTRY.winner(), true, 300), Standing.BESIDE)));
    assertThat(ofChannels.decode(golden.row("that has left a channel")).entry().standing())
        .isEqualTo(Standing.LEFT);
    assertThat(ofSelector.decode(golden.row("of a selector")).entry().standing())
        .isEqualTo(Standing.MEMBER);
  }

  @Test
  void departures() {
    FeedRemovalsSubspace departures = new FeedRemovalsSubspace(db, channels);
    WrittenRows written =
        written(DatabaseSubspace.DERIVED_ROWS, tx -> departures.insertion("x", "c").write(tx, 3));
    GoldenRows golden = GoldenRows.of("FeedRemovalsSubspace", db.prefix(), written.stamp());

    golden.assertAre(written.rows());
    Sequence sequence = Sequence.of(db.incarnation(), written.stamp(), 3);
    FeedRemovalsSubspace.Departure one = new FeedRemovalsSubspace.Departure("x", "c", sequence);
    assertThat(departures.decode(golden.row("a departure"))).isEqualTo(one);
    List<FeedRemovalsSubspace.Departure> found =
        test.read((tx, any) -> departures.all(tx, "x").join());
    assertThat(found).containsExactly(one);
  }
}
