package lectus.metrics;

import java.util.concurrent.Callable;

/** For which request a thread works. */
final class NotesOfThread {
  private static final ThreadLocal<StageNotes> CURRENT = new ThreadLocal<>();

  private NotesOfThread() {}

  static StageNotes get() {
    StageNotes stages = CURRENT.get();
    return stages == null ? StageNotes.NONE : stages;
  }

  static <T> T during(StageNotes stages, Callable<T> work) throws Exception {
    StageNotes before = CURRENT.get();
    CURRENT.set(stages);
    try {
      return work.call();
    } finally {
      CURRENT.set(before);
    }
  }
}
