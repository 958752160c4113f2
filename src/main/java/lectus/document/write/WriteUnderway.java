package lectus.document.write;

import com.apple.foundationdb.FDBException;
import lectus.error.LectusException;

/**
 * A write whose first commit is under way. The caller who began it has to finish it, on any thread.
 */
public interface WriteUnderway {
  /** Calls {@code then} once, on any thread, when the first commit has been answered. */
  void whenAnswered(Runnable then);

  /** Whether everything is stored, so that {@link #finish} waits for nothing. */
  boolean isStored();

  /**
   * Awaits the answer, and writes what is left or has to be retried. Call it once.
   *
   * @throws LectusException as {@link DocumentWriter#write}
   * @throws FDBException as {@link DocumentWriter#write}
   */
  WriteResult finish();
}
