package lectus.changes.notify;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import lectus.changes.page.TouchedShards;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.Sequence;

/**
 * Announces to other servers that databases moved. Sends at most one event per database and pause:
 * the first at once, all that come during the pause as one event at its end. Thread-safe.
 */
public final class CoalescedAnnouncements {
  private static final long FLUSH_SECONDS = 2;

  private final String storeId;
  private final EventChannel channel;
  private final Alarm alarm;
  private final long pauseNanos;
  private final LongSupplier nanoTime;
  private final Map<InstanceId, DatabaseEvent> waiting = new ConcurrentHashMap<>();
  private final AtomicBoolean alarmed = new AtomicBoolean();
  private volatile long nextNanos;

  public CoalescedAnnouncements(
      String storeId, EventChannel channel, Alarm alarm, Duration pause, LongSupplier nanoTime) {
    this.storeId = storeId;
    this.channel = channel;
    this.alarm = alarm;
    this.pauseNanos = pause.toNanos();
    this.nanoTime = nanoTime;
    this.nextNanos = nanoTime.getAsLong();
  }

  void created(InstanceId instance, DatabaseName name) {
    DatabaseEvent event = DatabaseEvent.created(storeId, instance, name);
    alarm.in(Duration.ZERO, () -> channel.publish(event));
  }

  /**
   * @param highest the highest sequence of a commit, which need not be the highest so far
   */
  void updated(InstanceId instance, DatabaseName name, Sequence highest, TouchedShards shards) {
    DatabaseEvent event = DatabaseEvent.updated(storeId, instance, name, highest, shards);
    waiting.merge(instance, event, DatabaseEvent::and);
    if (alarmed.compareAndSet(false, true)) {
      alarm.in(untilNext(), this::sendWaiting);
    }
  }

  void deleted(InstanceId instance, DatabaseName name) {
    DatabaseEvent event = DatabaseEvent.deleted(storeId, instance, name);
    alarm.in(Duration.ZERO, () -> channel.publish(event));
  }

  /** Waits until the announcements are on their way, but not for long. */
  public void flush() {
    CountDownLatch flushed = new CountDownLatch(1);
    alarm.in(Duration.ZERO, this::sendWaiting);
    alarm.in(Duration.ZERO, flushed::countDown);
    try {
      flushed.await(FLUSH_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Duration untilNext() {
    return Duration.ofNanos(Math.max(0, nextNanos - nanoTime.getAsLong()));
  }

  /** Announcements from here on set an alarm of their own. */
  private void sendWaiting() {
    nextNanos = nanoTime.getAsLong() + pauseNanos;
    alarmed.set(false);
    for (InstanceId instance : waiting.keySet()) {
      DatabaseEvent event = waiting.remove(instance);
      if (event != null) {
        channel.publish(event);
      }
    }
  }

  /** Runs tasks later, one after the other. Thread-safe. */
  public interface Alarm {
    /**
     * @param delay zero: as soon as possible
     */
    void in(Duration delay, Runnable task);
  }
}
