package lectus.http.limits;

import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls back when nothing has happened for some time. Timers of equal length share a queue, which
 * stays sorted because a restarted timer moves to its end. So ten thousand of them cost one Vert.x
 * timer, and restarting one moves four references. Timers that are due close together are called
 * together, so that the event loop wakes up less often: a call may be late by a thousandth of the
 * timer's length. For one event loop.
 */
public final class IdleClock {
  private static final Logger LOG = LoggerFactory.getLogger(IdleClock.class);

  /** The right shift that turns a timer's length into the time by which it may be late. */
  private static final int PATIENCE = 10;

  private static final long NONE = -1;

  final Map<Long, Line> lines = new HashMap<>();

  /** An entry of a queue. */
  public static final class Timer {
    private final Line line;
    private final Runnable idle;
    private long dueMillis;
    private Timer previous;
    private Timer next;

    private Timer(Line line, Runnable idle) {
      this.line = line;
      this.idle = idle;
    }

    /** Restarts the timer, because something happened. */
    public void restart() {
      if (previous != null) {
        line.remove(this);
        line.add(this);
      }
    }

    public void stop() {
      if (previous != null) {
        line.remove(this);
        line.dropIfEmpty();
      }
    }
  }

  /**
   * Starts a timer, which calls {@code idle} each time that many milliseconds have passed without
   * {@link Timer#restart}, until it is stopped.
   *
   * @param vertx of the calling event loop
   * @param millis 1 or more
   */
  public Timer start(Vertx vertx, long millis, Runnable idle) {
    Line line = lines.computeIfAbsent(millis, length -> new Line(vertx, length));
    Timer timer = new Timer(line, idle);
    line.add(timer);
    return timer;
  }

  /** The timers of one length; the one that is due first is at the head. */
  private final class Line {
    private final Vertx vertx;
    private final long millis;
    private final Timer ends = new Timer(this, null);
    private long alarm = NONE;

    Line(Vertx vertx, long millis) {
      this.vertx = vertx;
      this.millis = millis;
      ends.previous = ends;
      ends.next = ends;
    }

    void add(Timer timer) {
      timer.dueMillis = nowMillis() + millis;
      timer.previous = ends.previous;
      timer.next = ends;
      ends.previous.next = timer;
      ends.previous = timer;
      if (alarm == NONE) {
        setAlarm();
      }
    }

    void remove(Timer timer) {
      timer.previous.next = timer.next;
      timer.next.previous = timer.previous;
      timer.previous = null;
      timer.next = null;
    }

    void dropIfEmpty() {
      if (ends.next == ends && lines.get(millis) == this) {
        lines.remove(millis);
        vertx.cancelTimer(alarm);
      }
    }

    private void setAlarm() {
      long pause = ends.next.dueMillis + (millis >> PATIENCE) - nowMillis();
      alarm = vertx.setTimer(Math.max(1, pause), id -> callWhoIsDue());
    }

    private void callWhoIsDue() {
      long now = nowMillis();
      while (ends.next != ends && ends.next.dueMillis <= now) {
        Timer timer = ends.next;
        remove(timer);
        add(timer);
        run(timer.idle);
      }
      alarm = NONE;
      if (ends.next != ends) {
        setAlarm();
      }
    }

    /** An exception of one callback must not keep the others from being called, now or later. */
    private static void run(Runnable idle) {
      try {
        idle.run();
      } catch (Throwable failure) {
        LOG.error("A timer's callback failed", failure);
      }
    }
  }

  private static long nowMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }
}
