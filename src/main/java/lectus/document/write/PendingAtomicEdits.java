package lectus.document.write;

import com.apple.foundationdb.FDBException;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import lectus.database.InstanceId;
import lectus.error.LectusException;
import lectus.store.TransactionRunner.CommitResult;
import lectus.store.TransactionRunner.PendingTransaction;

/** A write whose edits are all made in one transaction, or none. */
final class PendingAtomicEdits implements PendingCommits {
  private final WriteProgress progress;
  private final Supplier<InstanceId> instance;
  private final PendingTransaction<CommitResult<EditTransaction.Result>> commit;
  private long plannedBytes;

  /**
   * @param edits how many there are
   * @param instance looks up the database's instance if the transaction does not tell it
   */
  PendingAtomicEdits(
      int edits,
      List<EditGroup> documents,
      PendingEdits.Transactions transactions,
      Supplier<InstanceId> instance) {
    this.progress = new WriteProgress(edits);
    this.instance = instance;
    this.commit = transactions.apply(documents, this::planned);
  }

  private void planned(EditTransaction.Result result) {
    plannedBytes = result.bytes();
  }

  @Override
  public void whenAnswered(Runnable then) {
    commit.whenAnswered(then);
  }

  @Override
  public boolean isStored() {
    return commit.isCommitted();
  }

  @Override
  public long plannedBytes() {
    return plannedBytes;
  }

  @Override
  public Optional<WriteResult> goOn() {
    try {
      return commit
          .goOn()
          .map(
              committed -> {
                progress.add(committed);
                return progress.result(instance);
              });
    } catch (FDBException lost) {
      throw DocumentWriter.isContention(lost)
          ? new LectusException(DocumentWriter.tooContended())
          : lost;
    }
  }
}
