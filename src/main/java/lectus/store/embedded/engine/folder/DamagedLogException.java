package lectus.store.embedded.engine.folder;

import java.nio.file.Path;

/** A write-ahead log is damaged beyond a torn last record. */
public final class DamagedLogException extends Exception {
  private static final long serialVersionUID = 1L;

  private DamagedLogException(String log, String trouble) {
    super("the write-ahead log " + log + " " + trouble);
  }

  static DamagedLogException broken(Path log, long offset) {
    return new DamagedLogException(
        String.valueOf(log.getFileName()), "is broken at byte " + offset);
  }

  static DamagedLogException missing(String log, long recorded) {
    return new DamagedLogException(
        log, "is missing, of which " + recorded + " bytes had been synced");
  }

  static DamagedLogException shorter(String log, long found, long recorded) {
    return new DamagedLogException(
        log, "ends after " + found + " of the " + recorded + " bytes that had been synced");
  }
}
