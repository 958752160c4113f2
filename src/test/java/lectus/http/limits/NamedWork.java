package lectus.http.limits;

import java.util.List;
import lectus.error.LectusError;

/**
 * Work that notes what becomes of it.
 *
 * @param told receives the name with what happened
 */
record NamedWork(String name, boolean isDroppable, boolean isAwaited, List<String> told)
    implements RequestThreads.Work {
  @Override
  public void run() {
    told.add(name + " done");
  }

  @Override
  public void drop() {
    told.add(name + " dropped");
  }

  @Override
  public boolean isOverdue(long nanoTime) {
    return false;
  }

  @Override
  public void giveUp(LectusError why) {
    told.add(name + " given up");
  }
}
