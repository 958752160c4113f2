package lectus.store.testing;

import io.vertx.core.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import lectus.store.Awaiting.WaitListener;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails every test in which an event loop begins a transaction that may have to read from the disk,
 * or waits for the store's answer: all its clients would wait, too. It counts that it might have
 * waited, so nothing depends on speed. JUnit finds it by itself, for all tests.
 */
public final class EventLoopWaits implements AfterEachCallback, AfterAllCallback {
  private static final Queue<Throwable> SEEN = new ConcurrentLinkedQueue<>();

  @Override
  public void afterEach(ExtensionContext context) {
    failIfSeen();
  }

  /** For what happened while the class was set up or cleared away. */
  @Override
  public void afterAll(ExtensionContext context) {
    failIfSeen();
  }

  private static void failIfSeen() {
    List<Throwable> waits = new ArrayList<>();
    for (Throwable wait = SEEN.poll(); wait != null; wait = SEEN.poll()) {
      waits.add(wait);
    }
    if (!waits.isEmpty()) {
      AssertionError failure =
          new AssertionError(
              "An event loop may have waited for the store, times: " + waits.size(), waits.get(0));
      waits.stream().skip(1).forEach(failure::addSuppressed);
      throw failure;
    }
  }

  /** Notes where an event loop may wait. */
  public static final class Noting implements WaitListener {
    @Override
    public void mayWait() {
      if (Context.isOnEventLoopThread()) {
        SEEN.add(new IllegalStateException("on " + Thread.currentThread().getName()));
      }
    }
  }
}
