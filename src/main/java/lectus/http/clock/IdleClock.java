package lectus.http.clock;

import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls those for whom nothing has happened for some time. Timers of one length wait in one line,
 * which is in order by itself, because whoever starts again goes to its end; so ten thousand of
 * them cost one timer of Vert.x, and starting one again moves four references. Those that are due
 * soon after each other are called together: a call may come late by a thousandth of its length, so
 * that the event loop wakes up less often. For one event loop.
 */
public final class IdleClock {
  private static final Logger LOG = LoggerFactory.getLogger(IdleClock.class);

  /** By how many bits a timer's length is greater than what it may be late by. */
  private static final int PATIENCE = 10;

  private static final long NONE = -1;

  private final Map<Long, Line> lines = new HashMap<>();

  /** Who waits in a line. */
  public final class Timer {
    private final Line line;
    private final Runnable idle;
    private long dueMillis;
    private Timer previous;
    private Timer next;

    private Timer(Line line, Runnable idle) {
      this.line = line;
      this.idle = idle;
    }

    /** Counts from now on, because something happened. */
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

  /** How many timers of Vert.x are running. */
  int lines() {
    return lines.size();
  }

  /** The timers of one length, the one that is due first at the head. */
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

    /** Whatever one of them throws, the others of the line are called, now and later. */
    private static void run(Runnable idle) {
      try {
        idle.run();
      } catch (Throwable failure) {
        LOG.error("What a timer called failed", failure);
      }
    }
  }

  private static long nowMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }
}
