package lectus.changes.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.testing.TestLayout;
import lectus.revision.Ancestors;
import lectus.revision.EditBranch;
import lectus.revision.EditBranch.BodySize;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.TransactionRunner.CommitResult;
import lectus.store.Versionstamp;
import lectus.store.testing.GoldenRows;
import lectus.store.testing.TestStores;
import lectus.store.testing.WrittenRows;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ChangesSubspaceTest {
  private static final ShardId SHARD = new ShardId("1");

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  private final TransactionRunner transactions =
      new TransactionRunner(store, TransactionLimits.DEFAULT);
  private final DatabaseHandle db =
      new Catalogue(store, transactions, InstantSource.system())
          .create(DatabaseName.of("db"), TestLayout.OPTIONS);
  private final ChangesSubspace changes = new ChangesSubspace(db);
  private final byte[] root = store.rootPrefix();

  @Test
  void entries_come_back_under_the_sequence_of_their_transaction() {
    ChangeEntry live = entry("a\0ü", "7-" + "0".repeat(32), false, 3);
    ChangeEntry deleted = entry("b", "2-odd", true, 1);

    byte[] stamp = insert(SHARD, live, deleted);

    assertThat(all(SHARD)).containsExactly(at(stamp, 0, live), at(stamp, 1, deleted));
  }

  @Test
  void the_number_in_the_transaction_orders_its_documents() {
    List<ChangeEntry> many = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      many.add(entry("d" + i, "1-a", false, 1));
    }
    insert(SHARD, many.toArray(ChangeEntry[]::new));

    assertThat(all(SHARD)).extracting(ChangeEntry::docId).startsWith("d0", "d1").endsWith("d299");
    assertThat(all(SHARD)).isSortedAccordingTo((a, b) -> a.sequence().compareTo(b.sequence()));
  }

  @Test
  void ranges_exclude_their_begin_and_include_their_end() {
    for (String id : List.of("a", "b", "c", "d")) {
      insert(SHARD, entry(id, "1-a", false, 1));
    }
    List<Sequence> sequences = all(SHARD).stream().map(ChangeEntry::sequence).toList();

    assertThat(ids(sequences.get(0), sequences.get(2), 0, false)).containsExactly("b", "c");
    assertThat(ids(sequences.get(1), null, 0, false)).containsExactly("c", "d");
    assertThat(ids(null, sequences.get(1), 0, false)).containsExactly("a", "b");
    assertThat(ids(null, null, 3, false)).containsExactly("a", "b", "c");
    assertThat(ids(null, null, 3, true)).containsExactly("d", "c", "b");
    assertThat(ids(sequences.get(3), null, 0, false)).isEmpty();
    assertThat(ids(sequences.get(2), sequences.get(1), 0, false)).isEmpty();
    assertThat(last(SHARD)).contains(sequences.get(3));
  }

  @Test
  void shards_do_not_see_each_other() {
    insert(SHARD, entry("a", "1-a", false, 1));
    insert(new ShardId("10"), entry("b", "1-a", false, 1));

    assertThat(all(SHARD)).extracting(ChangeEntry::docId).containsExactly("a");
    assertThat(last(new ShardId("2"))).isEmpty();
  }

  @Test
  void an_entry_is_cleared_by_its_sequence() {
    insert(SHARD, entry("a", "1-a", false, 1), entry("b", "1-a", false, 1));
    Sequence first = all(SHARD).get(0).sequence();

    transactions.run(
        tx -> {
          changes.clear(tx, SHARD, first);
          return null;
        });

    assertThat(all(SHARD)).extracting(ChangeEntry::docId).containsExactly("b");
  }

  private byte[] insert(ShardId shard, ChangeEntry... entries) {
    CommitResult<Void> committed =
        transactions.runVersioned(
            tx -> {
              for (int i = 0; i < entries.length; i++) {
                ChangeEntry entry = entries[i];
                EditBranch winner =
                    new EditBranch(
                        entry.winner(), entry.deleted(), Ancestors.NONE, BodySize.NONE, null);
                changes.insert(
                    tx,
                    shard,
                    i,
                    entry.docId(),
                    winner.winningAt(entry.sequence(), entry.branchCount(), Optional.empty()));
              }
              return null;
            });
    return committed.versionstamp();
  }

  private List<ChangeEntry> all(ShardId shard) {
    return read(shard, Optional.empty(), Optional.empty(), 0, false);
  }

  private List<String> ids(Sequence after, Sequence until, int limit, boolean reverse) {
    return read(SHARD, Optional.ofNullable(after), Optional.ofNullable(until), limit, reverse)
        .stream()
        .map(ChangeEntry::docId)
        .toList();
  }

  private List<ChangeEntry> read(
      ShardId shard,
      Optional<Sequence> after,
      Optional<Sequence> until,
      int limit,
      boolean reverse) {
    return transactions.read(
        tx ->
            Awaiting.await(changes.read(tx, shard, new EntryRange(after, until, limit, reverse))));
  }

  private Optional<Sequence> last(ShardId shard) {
    return transactions.read(tx -> Awaiting.await(changes.last(tx, shard)));
  }

  private static ChangeEntry at(byte[] stamp, int number, ChangeEntry entry) {
    return new ChangeEntry(
        Sequence.of(0, stamp, number),
        entry.docId(),
        entry.winner(),
        entry.deleted(),
        entry.branchCount());
  }

  private static ChangeEntry entry(String id, String winner, boolean deleted, int branchCount) {
    return new ChangeEntry(null, id, RevisionId.of(winner), deleted, branchCount);
  }

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
