package lectus.document.write;

import com.apple.foundationdb.FDBException;
import java.util.function.Supplier;
import lectus.database.InstanceId;
import lectus.error.LectusException;
import lectus.store.Committed;
import lectus.store.Underway;

/**
 * Edits that are made all in one transaction, or none.
 *
 * @param instance asks for the database's, if the transaction does not tell it
 */
record AtomicUnderway(
    Underway<Committed<WriteBatch.Result>> commit,
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
