package lectus.server;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.transport.Transport;
import java.util.List;
import java.util.Optional;

/**
 * The servers beside this one: none, or the other members of a cluster. They are joined when Vert.x
 * is made, and left when it is closed.
 */
interface Neighbours {
  /**
   * @param transport that Vert.x has to use
   * @throws StartException one sentence why the cluster cannot be joined
   */
  Vertx join(VertxOptions options, Transport transport);

  /** What carries events to them; empty if there are none. */
  Optional<EventChannel> channel(Vertx joined);

  /**
   * What this server is called among the members.
   *
   * @param self the address at which it listens, as host:port
   */
  default String name(String self) {
    return "lectus@" + self;
  }

  /**
   * The living members, this one among them.
   *
   * @param self the address at which this server listens, as host:port
   */
  List<String> members(String self);
}
