package lectus.store;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import java.util.List;
import java.util.stream.IntStream;
import lectus.store.testing.GoldenRows;
import lectus.store.testing.TestStores;
import lectus.store.testing.WrittenRows;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The exact bytes of the store's own data, below its root but outside the databases. */
final class GoldenStoreRowsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  private final byte[] root = store.rootPrefix();
  private final TransactionRunner transactions =
      new TransactionRunner(store, TransactionLimits.DEFAULT);

  /** Begins with 00, so that it contains a NUL. */
  private final byte[] id = new byte[16];

  GoldenStoreRowsTest() {
    IntStream.range(0, id.length).forEach(i -> id[i] = (byte) i);
  }

  @Test
  void ids_of_transactions() {
    // Apart from the id that the writing itself has on a cluster.
    byte[] apart = stores.fresh().rootPrefix();
    TransactionIdSubspace subspace = new TransactionIdSubspace(apart);
    byte[] givenUp = new byte[16];
    WrittenRows written =
        WrittenRows.of(
            store,
            subspace.range(),
            tx -> {
              Awaiting.await(tx.getReadVersion());
              subspace.put(tx, id, 258);
              subspace.put(tx, givenUp, TransactionIdSubspace.NONE);
            });
    GoldenRows golden = GoldenRows.of("TransactionIdSubspace", apart, written.stamp());

    golden.assertAre(written.rows());
    TransactionIdSubspace.Trace trace =
        TransactionIdSubspace.trace(golden.value("the second attempt behind 256 others"));
    assertThat(trace.attempt()).isEqualTo(258);
    assertThat(trace.versionstamp()).isEqualTo(written.stamp());
    assertThat(TransactionIdSubspace.trace(golden.value("given up")).attempt()).isZero();
  }

  @Test
  void leases() {
    LeaseSubspace subspace = new LeaseSubspace(root);
    LeaseSubspace.Claim claim = new LeaseSubspace.Claim(id, 1_234_567_890_123L);
    GoldenRows golden = GoldenRows.of("LeaseSubspace", root, new byte[0]);

    golden.assertAre(List.of(new KeyValue(subspace.key("compaction"), LeaseSubspace.value(claim))));
    KeyValue row = golden.row("a claim to a task");
    assertThat(subspace.task(row)).isEqualTo("compaction");
    assertThat(LeaseSubspace.claim(row.getValue()).holder()).isEqualTo(id);
    assertThat(LeaseSubspace.claim(row.getValue()).version()).isEqualTo(claim.version());
  }

  @Test
  void buckets() {
    BucketsSubspace subspace = new BucketsSubspace(root);
    BucketsSubspace.Claim claim = new BucketsSubspace.Claim(63, id, 1_234_567_890_123L);
    GoldenRows golden = GoldenRows.of("BucketsSubspace", root, new byte[0]);

    Fence row = subspace.row(claim);
    golden.assertAre(
        List.of(
            new KeyValue(row.key(), row.value()),
            new KeyValue(subspace.key(id), BucketsSubspace.life(claim.since()))));
    BucketsSubspace.Claim read = subspace.claim(golden.row("a claim to the bucket 63"));
    assertThat(read.bucket()).isEqualTo(63);
    assertThat(read.isOf(id)).isTrue();
    assertThat(read.since()).isEqualTo(claim.since());
    BucketsSubspace.Life life = subspace.life(golden.row("a sign of life"));
    assertThat(life.holder()).isEqualTo(id);
    assertThat(life.version()).isEqualTo(claim.since());
  }

  @Test
  void the_name_of_a_store() {
    GoldenRows golden = GoldenRows.of("StoreIdentity", root, new byte[0]);
    StoreIdentity identity = new StoreIdentity(store.directory());
    put(golden.row("an id"));

    assertThat(transactions.<String>read(identity::read))
        .isEqualTo("000102030405060708090a0b0c0d0e0f");
    golden.assertAre(
        transactions.read(
            tx -> Awaiting.await(tx.getRange(RootSubspace.STORE_ID.range(root)).asList())));
  }

  private void put(KeyValue row) {
    transactions.run(
        tx -> {
          tx.set(row.getKey(), row.getValue());
          return null;
        });
  }
}
