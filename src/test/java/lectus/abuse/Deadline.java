package lectus.abuse;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** The time at which an attack ends. */
public record Deadline(long nanoTime) {

  public static Deadline in(Duration time) {
    return new Deadline(System.nanoTime() + time.toNanos());
  }

  public boolean isOver() {
    return System.nanoTime() - nanoTime >= 0;
  }

  /** Pauses between two turns of an attack, which sets its pace. */
  void pause(int millis) {
    LockSupport.parkNanos(Duration.ofMillis(millis).toNanos());
  }
}
