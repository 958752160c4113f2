package lectus.server;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.transport.Transport;
import java.util.List;
import java.util.Optional;
import lectus.changes.notify.EventChannel;

/** A server that stands alone. */
public final class SingleNode implements ClusterMembership {
  @Override
  public Vertx join(VertxOptions options, Transport transport) {
    return Vertx.builder().with(options).withTransport(transport).build();
  }

  @Override
  public Optional<EventChannel> channel(Vertx joined) {
    return Optional.empty();
  }

  @Override
  public List<String> members(String self) {
    return List.of(name(self));
  }
}
