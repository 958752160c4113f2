package lectus.server;

import java.util.function.Consumer;
import lectus.feed.Registration;

/**
 * Carries events to the other servers. They may be lost, late, doubled and out of order: nothing
 * but the time until somebody reads depends on them. For any thread.
 */
interface EventChannel {
  /** Sends an event to the servers that subscribed to its address, and to no others. */
  void publish(DatabaseEvent event);

  /**
   * Lets the events of one address come, from some time after this on.
   *
   * @param receiver told on any thread, without events that this server published
   */
  Registration subscribe(int address, Consumer<DatabaseEvent> receiver);
}
