package lectus.changes.notify;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import lectus.changes.notify.CoalescedAnnouncements.Alarm;
import lectus.changes.page.Registration;

/**
 * Subscribes to the addresses that listeners on this server need, so that other servers send it
 * nothing useless. An address that is not needed any more stays subscribed for a while: long polls
 * come and go. All changes run on its alarm.
 */
public final class BusSubscriptions {
  private final EventChannel channel;
  private final ListenerRegistry listeners;
  private final String storeId;
  private final Alarm alarm;
  private final Duration linger;
  private final Map<Integer, Registration> open = new HashMap<>();
  private final Set<Integer> lingering = new HashSet<>();

  public BusSubscriptions(
      EventChannel channel,
      ListenerRegistry listeners,
      String storeId,
      Alarm alarm,
      Duration linger) {
    this.channel = channel;
    this.listeners = listeners;
    this.storeId = storeId;
    this.alarm = alarm;
    this.linger = linger;
  }

  /** Must be called whenever the need for an address may have changed; on any thread. */
  public void check(int address) {
    alarm.in(Duration.ZERO, () -> follow(address));
  }

  private void follow(int address) {
    boolean needed = listeners.needs(address);
    if (needed) {
      open.computeIfAbsent(address, number -> channel.subscribe(number, this::receive));
    } else if (open.containsKey(address) && lingering.add(address)) {
      alarm.in(linger, () -> leaveUnlessNeeded(address));
    }
  }

  private void leaveUnlessNeeded(int address) {
    lingering.remove(address);
    if (!listeners.needs(address)) {
      Registration subscription = open.remove(address);
      if (subscription != null) {
        subscription.close();
      }
    }
  }

  private void receive(DatabaseEvent event) {
    if (!event.storeId().equals(storeId)) {
      return;
    }
    switch (event.kind()) {
      case CREATED -> listeners.created(event.name());
      case UPDATED ->
          event
              .sequence()
              .ifPresent(
                  highest ->
                      listeners.updated(event.instance(), event.name(), highest, event.shards()));
      case DELETED -> listeners.deleted(event.instance(), event.name());
      case OTHER -> {} // An event of a newer version: nothing that listeners here could wait for.
    }
  }
}
