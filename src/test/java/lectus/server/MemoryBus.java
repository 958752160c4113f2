package lectus.server;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.transport.Transport;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import lectus.changes.notify.DatabaseEvent;
import lectus.changes.notify.EventChannel;
import lectus.changes.page.Registration;

/** Servers in one process that announce changes over a bus that the test controls. */
final class MemoryBus implements ClusterMembership {
  private final Set<Subscriber> subscribers = ConcurrentHashMap.newKeySet();
  private final Fate fate;

  private record Subscriber(EventChannel server, int address, Consumer<DatabaseEvent> receiver) {}

  /** Decides over messages. */
  interface Fate {
    Fate FAITHFUL = Runnable::run;
    Fate DROPPED = delivery -> {};

    /** Called by one thread at a time. */
    void meet(Runnable delivery);
  }

  MemoryBus(Fate fate) {
    this.fate = fate;
  }

  /**
   * Loses some messages. The others wait until enough have gathered, then come in any order, some
   * of them twice.
   */
  static Fate mangling(long seed) {
    Random random = new Random(seed);
    List<Runnable> held = new ArrayList<>();
    return delivery -> {
      for (int copies = random.nextInt(3); copies > 0; copies--) {
        held.add(random.nextInt(held.size() + 1), delivery);
      }
      while (held.size() > 5) {
        held.remove(random.nextInt(held.size())).run();
      }
    };
  }

  @Override
  public Vertx join(VertxOptions options, Transport transport) {
    return Vertx.builder().with(options).withTransport(transport).build();
  }

  @Override
  public List<String> members(String self) {
    return List.of(self);
  }

  @Override
  public Optional<EventChannel> channel(Vertx vertx) {
    return Optional.of(
        new EventChannel() {
          @Override
          public void publish(DatabaseEvent event) {
            deliver(this, event);
          }

          @Override
          public Registration subscribe(int address, Consumer<DatabaseEvent> receiver) {
            Subscriber subscriber = new Subscriber(this, address, receiver);
            subscribers.add(subscriber);
            return () -> subscribers.remove(subscriber);
          }
        });
  }

  private synchronized void deliver(EventChannel sender, DatabaseEvent event) {
    for (Subscriber subscriber : subscribers) {
      if (subscriber.server() != sender && subscriber.address() == event.address()) {
        fate.meet(() -> subscriber.receiver().accept(event));
      }
    }
  }

  /** Returns how many servers subscribed to some address. */
  long listeningServers() {
    return subscribers.stream().map(Subscriber::server).distinct().count();
  }
}
