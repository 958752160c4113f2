package lectus.server;

import io.netty.bootstrap.ServerBootstrap;
import io.vertx.core.impl.transports.NioTransport;
import io.vertx.core.net.TcpConfig;
import io.vertx.core.transport.Transport;
import java.util.Optional;

/**
 * Vert.x' own transport with a gate in front of the servers that are started from some time on.
 * Vert.x shows a connection only when its first bytes have come, and many that say nothing are the
 * ones to be counted.
 */
final class GatedTransport extends NioTransport implements Transport {
  private volatile Optional<ConnectionGate> gate = Optional.empty();

  /** Servers that listen from now on have the gate. That of the cluster's event bus has none. */
  void open(ConnectionGate before) {
    gate = Optional.of(before);
  }

  @Override
  public void configure(TcpConfig config, boolean domainSocket, ServerBootstrap bootstrap) {
    super.configure(config, domainSocket, bootstrap);
    gate.ifPresent(bootstrap::handler);
  }

  @Override
  public String name() {
    return "nio";
  }

  @Override
  public boolean available() {
    return true;
  }

  @Override
  public Throwable unavailabilityCause() {
    return null;
  }

  @Override
  public io.vertx.core.spi.transport.Transport implementation() {
    return this;
  }
}
