package lectus.server;

import io.vertx.core.Vertx;
import java.time.Duration;
import lectus.changes.notify.Alarm;
import lectus.changes.notify.Announcements;
import lectus.changes.notify.BusFigures;
import lectus.changes.notify.BusSubscriptions;
import lectus.changes.notify.CoalescedAnnouncements;
import lectus.changes.notify.EventChannel;
import lectus.changes.notify.ListenerRegistry;

/** Connects this server's listeners with the other servers, in both directions. */
final class OtherServers {
  /** The least time between two events of one database. */
  private static final Duration EVENT_PAUSE = Duration.ofMillis(5);

  /** The time for which a subscription outlives its last listener. */
  private static final Duration LINGER = Duration.ofSeconds(30);

  private OtherServers() {}

  /** Returns what announces to the other servers, whose events wake the listeners from now on. */
  static Announcements announcements(
      Vertx vertx,
      ClusterMembership cluster,
      String storeId,
      ListenerRegistry listeners,
      BusFigures figures) {
    return cluster
        .channel(vertx)
        .map(figures::counting)
        .map(channel -> connect(new ContextAlarm(vertx), channel, storeId, listeners))
        .orElse(Announcements.TO_NOBODY);
  }

  private static Announcements connect(
      Alarm alarm, EventChannel channel, String storeId, ListenerRegistry listeners) {
    listeners.watch(new BusSubscriptions(channel, listeners, storeId, alarm, LINGER)::check);
    return new CoalescedAnnouncements(storeId, channel, alarm, EVENT_PAUSE, System::nanoTime);
  }
}
