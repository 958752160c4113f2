package lectus.store;

import java.util.List;
import java.util.ServiceLoader;

/** Where threads wait for the store, they say so here first. */
final class Waits {
  private static final List<WaitListener> LISTENERS =
      ServiceLoader.load(WaitListener.class, WaitListener.class.getClassLoader()).stream()
          .map(ServiceLoader.Provider::get)
          .toList();

  private Waits() {}

  static void announce() {
    LISTENERS.forEach(WaitListener::mayWait);
  }
}
