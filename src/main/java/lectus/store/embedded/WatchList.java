package lectus.store.embedded;

import java.util.ArrayList;
import java.util.List;

/** The watches of one attempt until its commit activates them, guarded by the attempt's monitor. */
final class WatchList {
  private List<Watch> watches = List.of();

  /** Watches triggered by an own write, which fire once the monitor is released. */
  private List<Watch> triggered = List.of();

  void add(Watch watch) {
    if (watches.isEmpty()) {
      watches = new ArrayList<>(1);
    }
    watches.add(watch);
  }

  void written(byte[] key, byte[] value) {
    if (!watches.isEmpty()) {
      trigger(watch -> KeySpace.compare(watch.key(), key) == 0 && !watch.sees(value));
    }
  }

  void cleared(byte[] begin, byte[] end) {
    if (!watches.isEmpty()) {
      trigger(
          watch ->
              KeySpace.compare(watch.key(), begin) >= 0
                  && KeySpace.compare(watch.key(), end) < 0
                  && !watch.sees(null));
    }
  }

  /** Notes an atomic operation, whose outcome is not known yet. */
  void changed(byte[] key) {
    if (!watches.isEmpty()) {
      trigger(watch -> KeySpace.compare(watch.key(), key) == 0);
    }
  }

  private void trigger(java.util.function.Predicate<Watch> condition) {
    for (Watch watch : List.copyOf(watches)) {
      if (condition.test(watch)) {
        watches.remove(watch);
        if (triggered.isEmpty()) {
          triggered = new ArrayList<>(1);
        }
        triggered.add(watch);
      }
    }
  }

  /** Completes the triggered watches. Called outside the attempt's monitor. */
  void fire() {
    List<Watch> firing = triggered;
    if (!firing.isEmpty()) {
      triggered = List.of();
      firing.forEach(watch -> watch.future().complete(null));
    }
  }

  /** Hands over the watches that have not fired. */
  List<Watch> take() {
    List<Watch> taken = watches;
    watches = List.of();
    return taken;
  }
}
