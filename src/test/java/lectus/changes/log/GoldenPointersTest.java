package lectus.changes.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.database.InstanceId;
import lectus.store.Awaiting;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;
import lectus.store.testing.GoldenRows;
import lectus.store.testing.TestStores;
import lectus.store.testing.WrittenRows;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The exact bytes of the updates log's compaction state. */
final class GoldenPointersTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  private final byte[] root = store.rootPrefix();

  @Test
  void pointers() {
    UpdatePointers pointers = new UpdatePointers(root);
    InstanceId instance = new InstanceId("00112233445566778899aabbccddeeff");
    DatabaseName name = DatabaseName.of("a");
    Versionstamp at = new Versionstamp(HexFormat.of().parseHex("000102030405060708090a0b"));
    DatabaseUpdate end =
        new DatabaseUpdate(at, DatabaseUpdate.Kind.DELETED, instance, name, at.successor());
    WrittenRows written =
        WrittenRows.of(
            store,
            RootSubspace.UPDATE_POINTERS.range(root),
            tx -> {
              pointers.setProgress(tx, at);
              pointers.setUpdated(tx, instance, at);
              pointers.setDeleted(tx, end);
            });
    GoldenRows golden = GoldenRows.of("UpdatePointers", root, written.stamp());

    golden.assertAre(written.rows());
    UpdatePointers.Target target = new UpdatePointers.Target(instance, at);
    assertThat(pointers.target(golden.row("how far the log is compacted"))).isEmpty();
    assertThat(pointers.target(golden.row("the last update of an instance"))).contains(target);
    assertThat(pointers.target(golden.row("the last end of a name"))).contains(target);
    assertThat(
            new TransactionRunner(store, TransactionLimits.DEFAULT)
                .<DatabaseUpdate>read(
                    tx -> Awaiting.await(pointers.deleted(tx, name)).orElseThrow()))
        .isEqualTo(end);
  }
}
