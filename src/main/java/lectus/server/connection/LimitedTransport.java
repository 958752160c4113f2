package lectus.server.connection;

import io.netty.bootstrap.ServerBootstrap;
import io.vertx.core.impl.transports.NioTransport;
import io.vertx.core.net.TcpConfig;
import io.vertx.core.transport.Transport;
import java.util.Optional;

/**
 * Vert.x's own transport with a gate in front of the servers that start after {@link #open}. Vert.x
 * only reports a connection when its first bytes have arrived, but connections that send nothing
 * have to be counted, too.
 */
public final class LimitedTransport extends NioTransport implements Transport {
  private volatile Optional<ConnectionGate> gate = Optional.empty();

  /**
   * Puts the gate in front of servers that listen from now on. The cluster's event bus has none.
   */
  public void open(ConnectionGate before) {
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
