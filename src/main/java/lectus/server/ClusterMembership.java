package lectus.server;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.transport.Transport;
import java.util.List;
import java.util.Optional;
import lectus.changes.notify.EventChannel;

/**
 * The servers beside this one: none, or the other members of a cluster. The server joins them when
 * Vert.x is created, and leaves when it is closed.
 */
public interface ClusterMembership {
  /**
   * @param transport that Vert.x has to use
   * @throws StartException one sentence why the cluster cannot be joined
   */
  Vertx join(VertxOptions options, Transport transport);

  /** Returns the channel of events to the other servers; empty if there are none. */
  Optional<EventChannel> channel(Vertx joined);

  /**
   * Returns this server's name among the members.
   *
   * @param self the address at which it listens, as host:port
   */
  default String name(String self) {
    return "lectus@" + self;
  }

  /**
   * Returns the living members, this one among them.
   *
   * @param self the address at which this server listens, as host:port
   */
  List<String> members(String self);
}
