package lectus.document.write;

import com.apple.foundationdb.FDBException;
import java.util.function.Supplier;
import lectus.database.InstanceId;
import lectus.error.LectusException;
import lectus.store.CommitResult;
import lectus.store.Underway;

/**
 * A write whose edits are all made in one transaction, or none.
 *
 * @param instance looks up the database's instance if the transaction does not tell it
 */
record AtomicUnderway(
    Underway<CommitResult<EditTransaction.Result>> commit,
    WriteProgress progress,
    Supplier<InstanceId> instance)
    implements WriteUnderway {
  @Override
  public void whenAnswered(Runnable then) {
    commit.whenAnswered(then);
  }

  @Override
  public boolean isStored() {
    return commit.isCommitted();
  }

  @Override
  public WriteResult finish() {
    try {
      progress.add(commit.finish());
    } catch (FDBException lost) {
      throw DocumentWriter.isContention(lost)
          ? new LectusException(DocumentWriter.tooContended())
          : lost;
    }
    return progress.result(instance);
  }
}
