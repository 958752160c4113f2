package lectus.document.write;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.MutationType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import lectus.audit.StoreAudit;
import lectus.audit.StoreAudit.AuditListener;
import lectus.database.DatabaseSubspace;
import lectus.database.Partition;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.document.testing.TestDatabase;
import lectus.revision.EditBranch;
import lectus.store.Awaiting;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The counters of each partition match its content, whoever writes at the same time. */
final class PartitionCountersTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final List<String> PARTITIONS = List.of("a", "b", "c");
  private static final int THREADS = 4;
  private static final int EDITS = 60;

  private final TestDatabase db = TestDatabase.partitioned(stores.fresh());

  private DatabaseCounters of(String partition) {
    return db.read(
        (tx, handle) ->
            Awaiting.await(DatabaseCounters.ofPartition(tx, handle, Partition.of(partition))));
  }

  @Test
  void concurrent_edits_are_counted_exactly() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        Random random = new Random(thread);
        running.add(threads.submit(() -> edit(random)));
      }
      for (Future<?> each : running) {
        each.get(60, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }

    assertThat(new StoreAudit(db.store, AuditListener.SILENT).run().findings()).isEmpty();
    DatabaseCounters whole = db.statistics();
    DatabaseCounters sum = new DatabaseCounters(0, 0, 0, 0);
    for (String partition : PARTITIONS) {
      sum = plus(sum, of(partition));
      assertThat(of(partition).documents()).isEqualTo(liveDocuments(partition));
    }
    assertThat(sum).isEqualTo(whole);
    assertThat(of("none")).isEqualTo(new DatabaseCounters(0, 0, 0, 0));
  }

  private void edit(Random random) {
    for (int i = 0; i < EDITS; i++) {
      String id = PARTITIONS.get(random.nextInt(3)) + ":" + random.nextInt(6);
      String json = "{\"v\":\"" + "x".repeat(random.nextInt(30)) + "\",\"i\":" + i + "}";
      switch (random.nextInt(3)) {
        case 0 ->
            db.replicate(id, json, (1 + random.nextInt(3)) + "-" + i + "r" + random.nextInt());
        case 1 -> winner(id).ifPresent(it -> db.write(TestDatabase.deletion(id, it.leaf())));
        default ->
            db.write(
                TestDatabase.edit(
                    id,
                    winner(id).filter(it -> !it.deleted()).map(EditBranch::leaf).orElse(null),
                    json));
      }
    }
  }

  private Optional<EditBranch> winner(String id) {
    return db.branches(id).stream().findFirst();
  }

  private long liveDocuments(String partition) {
    return IntStream.range(0, 6)
        .filter(i -> db.allDocsRow(partition + ":" + i).isPresent())
        .count();
  }

  private static DatabaseCounters plus(DatabaseCounters a, DatabaseCounters b) {
    return new DatabaseCounters(
        a.documents() + b.documents(),
        a.deletedDocuments() + b.deletedDocuments(),
        a.externalBytes() + b.externalBytes(),
        a.activeBytes() + b.activeBytes());
  }

  @Test
  void documents_outside_of_partitions_count_for_the_database_alone() {
    db.put("_design/a:d", "{}");
    db.put("a:1", "{}");
    assertThat(of("a").documents()).isEqualTo(1);
    assertThat(db.statistics().documents()).isEqualTo(2);
    db.audit(2);
  }

  @Test
  void the_auditor_finds_a_wrong_counter_of_a_partition() {
    db.put("a:1", "{\"v\":1}");
    byte[] one = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(1).array();
    db.transactions.run(
        tx -> {
          byte[] prefix = db.catalogue.current(tx, db.name).prefix();
          byte[] key =
              DatabaseSubspace.STATISTICS
                  .key(prefix)
                  .integer(5)
                  .string("b")
                  .integer(0)
                  .integer(2)
                  .toBytes();
          tx.mutate(MutationType.ADD, key, one);
          return null;
        });
    assertThat(new StoreAudit(db.store, AuditListener.SILENT).run().findings())
        .singleElement()
        .asString()
        .contains("the counter of documents of the partition b in slot 2 says 1, there are 0");
  }

  @Test
  void ids_without_a_partition_are_refused_one_by_one() {
    List<EditOutcome> outcomes =
        db.write(
            List.of(TestDatabase.edit("a:1", null, "{}"), TestDatabase.edit("plain", null, "{}")));
    assertThat(outcomes.get(0)).isInstanceOf(EditOutcome.Written.class);
    assertThat(outcomes.get(1))
        .isInstanceOfSatisfying(
            EditOutcome.Failed.class,
            failed -> assertThat(failed.error().error()).isEqualTo("illegal_docid"));
    db.audit(1);
  }
}
