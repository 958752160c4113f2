package lectus.server;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import lectus.feed.Registration;

/**
 * Subscribes to the addresses that somebody on this server needs, so that nobody sends it what it
 * has no use for. An address that is needed no more stays subscribed for a while: long polls come
 * and go. All that changes it runs on its alarm.
 */
final class Subscriptions {
  private final EventChannel channel;
  private final ListenerRegistry listeners;
  private final String storeId;
  private final Alarm alarm;
  private final Duration linger;
  private final Map<Integer, Registration> open = new HashMap<>();
  private final Set<Integer> lingering = new HashSet<>();

  Subscriptions(
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

  /** To be called whenever it may have changed whether the address is needed; on any thread. */
  void check(int address) {
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
      case OTHER -> {} // A newer server's: nothing that listeners here could wait for.
    }
  }
}
