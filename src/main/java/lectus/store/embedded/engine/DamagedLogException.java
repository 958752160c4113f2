package lectus.store.embedded.engine;

import java.nio.file.Path;

/** A write-ahead log that is broken elsewhere than in its last record. */
final class DamagedLogException extends Exception {
  private static final long serialVersionUID = 1L;

  DamagedLogException(Path log, long offset) {
    super("the write-ahead log " + log.getFileName() + " is broken at byte " + offset);
  }
}
