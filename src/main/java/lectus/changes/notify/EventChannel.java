package lectus.changes.notify;

import java.util.function.Consumer;
import lectus.changes.page.Registration;

/**
 * Carries events to the other servers. Events may be lost, late, duplicated and out of order: they
 * only shorten the time until a listener reads. Thread-safe.
 */
public interface EventChannel {
  /** Sends an event to the servers that subscribed to its address, and to no others. */
  void publish(DatabaseEvent event);

  /**
   * Subscribes to the events of one address, which arrive from some later time on.
   *
   * @param receiver called on any thread, but not for events that this server published
   */
  Registration subscribe(int address, Consumer<DatabaseEvent> receiver);
}
