package lectus.server;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.transport.Transport;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import lectus.changes.notify.DatabaseEvent;
import lectus.changes.notify.EventChannel;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.changes.page.Registration;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.server.NodeSettings.ClusterSettings;
import lectus.store.Store;

/** A server of a real Hazelcast cluster that records the events it receives. */
final class Member implements ClusterMembership, AutoCloseable {
  private final HazelcastCluster cluster;
  private final ConcurrentLinkedQueue<DatabaseEvent> received = new ConcurrentLinkedQueue<>();
  private final Node node;
  private final LectusServer server;

  /**
   * @param file Hazelcast's configuration
   */
  Member(Path file, Store store, PollSettings polls) {
    cluster = new HazelcastCluster(new ClusterSettings(Optional.of(file), 0));
    NodeSettings settings = new TestSettings().polls(polls).toNode();
    node = Node.start(settings, () -> store, this);
    server = LectusServer.of(node);
  }

  LectusServer server() {
    return server;
  }

  /** Whether it was asked to restart, which nobody does here. */
  boolean isToRestart() {
    return node.restartWanted().isDone();
  }

  /** Returns the events that other members sent to this one. */
  List<DatabaseEvent> received() {
    return List.copyOf(received);
  }

  /** Ends its membership at once, without notice to the others. */
  void cutOff() {
    cluster.hazelcast().getLifecycleService().terminate();
  }

  @Override
  public Vertx join(VertxOptions options, Transport transport) {
    return cluster.join(options, transport);
  }

  @Override
  public String name(String self) {
    return cluster.name(self);
  }

  @Override
  public List<String> members(String self) {
    return cluster.members(self);
  }

  @Override
  public Optional<EventChannel> channel(Vertx vertx) {
    return cluster
        .channel(vertx)
        .map(
            channel ->
                new EventChannel() {
                  @Override
                  public void publish(DatabaseEvent event) {
                    channel.publish(event);
                  }

                  @Override
                  public Registration subscribe(int address, Consumer<DatabaseEvent> receiver) {
                    return channel.subscribe(
                        address,
                        event -> {
                          received.add(event);
                          receiver.accept(event);
                        });
                  }
                });
  }

  @Override
  public void close() {
    server.close();
  }
}
