package lectus.changes.notify;

import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import lectus.changes.page.Registration;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;

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

  /** Counts the events that go to other servers and come from them. Thread-safe. */
  final class BusMetrics implements Measured {
    private final LongAdder sent = new LongAdder();
    private final LongAdder received = new LongAdder();

    public EventChannel counting(EventChannel channel) {
      return new EventChannel() {
        @Override
        public void publish(DatabaseEvent event) {
          sent.increment();
          channel.publish(event);
        }

        @Override
        public Registration subscribe(int address, Consumer<DatabaseEvent> receiver) {
          return channel.subscribe(
              address,
              event -> {
                received.increment();
                receiver.accept(event);
              });
        }
      };
    }

    @Override
    public void describe(Meters meters) {
      meters.count("lectus_bus_sent", "Events for other servers.", sent::sum);
      meters.count("lectus_bus_received", "Events of other servers.", received::sum);
    }
  }
}
