package lectus.document.write;

import com.apple.foundationdb.FDBException;
import lectus.error.LectusException;

/** A write whose first commit is on its way. Whoever began it finishes it, on any thread. */
public interface WriteUnderway {
  /** Calls {@code then} once, on some thread, when the first commit has been answered. */
  void whenAnswered(Runnable then);

  /** Whether all that is to be stored is stored: then {@link #finish} waits for nothing. */
  boolean isStored();

  /**
   * Waits for the answer, and writes what is left or has to be written again. To be called once.
   *
   * @throws LectusException as {@link DocumentWriter#write}
   * @throws FDBException as {@link DocumentWriter#write}
   */
  WriteResult finish();
}
