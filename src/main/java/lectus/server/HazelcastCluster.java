package lectus.server;

import com.hazelcast.cluster.Member;
import com.hazelcast.config.Config;
import com.hazelcast.config.MultiMapConfig;
import com.hazelcast.core.HazelcastException;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.core.transport.Transport;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.io.FileNotFoundException;
import java.net.BindException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A member of a Hazelcast cluster. Hazelcast says who the members are and which of them take which
 * events; the events go from server to server over Vert.x's event bus. Nothing of the data does.
 *
 * <p>The only class that touches Hazelcast: a server without neighbours never loads it.
 */
final class HazelcastCluster implements Neighbours {
  private static final String LOOPBACK = "cluster-loopback.yaml";
  private static final long JOIN_SECONDS = 120;

  /** Joining, and asking who takes which events, waits for other members. */
  private static final int WORKERS = 4;

  /**
   * A member that cannot be connected to in this time, or does not answer in twice, is not sent to.
   */
  private static final int PING_MILLIS = 5_000;

  /** Where the configuration file does not say otherwise. */
  private static final Map<String, String> PROPERTIES =
      Map.of(
          "hazelcast.logging.type", "slf4j",
          "hazelcast.phone.home.enabled", "false",
          // Who does not answer for so long is no member any more.
          "hazelcast.heartbeat.interval.seconds", "3",
          "hazelcast.max.no.heartbeat.seconds", "15",
          // Halves of a cluster that was cut in two look for each other.
          "hazelcast.merge.first.run.delay.seconds", "20",
          "hazelcast.merge.next.run.delay.seconds", "20",
          // What is known of subscriptions is made known again by those who subscribed.
          "hazelcast.graceful.shutdown.max.wait", "5");

  private final HazelcastClusterManager manager;
  private final int eventPort;
  private volatile String ownName;

  /**
   * @throws StartException one sentence why the configuration is of no use
   */
  HazelcastCluster(ClusterSettings settings) {
    // Hazelcast logs while it reads its configuration, before it knows what that says of logging.
    System.setProperty("hazelcast.logging.type", "slf4j");
    Config config =
        settings.file().map(HazelcastCluster::read).orElseGet(HazelcastCluster::loopback);
    PROPERTIES.forEach(
        (name, value) -> {
          if (config.getProperty(name) == null) {
            config.setProperty(name, value);
          }
        });
    // Vert.x keeps the subscriptions there: several of one address, none twice.
    config.addMultiMapConfig(
        new MultiMapConfig("__vertx.subs")
            .setBackupCount(1)
            .setValueCollectionType(MultiMapConfig.ValueCollectionType.SET));
    this.manager = new HazelcastClusterManager(config);
    this.eventPort = settings.eventPort();
  }

  private static Config loopback() {
    return Config.loadFromClasspath(HazelcastCluster.class.getClassLoader(), LOOPBACK);
  }

  private static Config read(Path file) {
    try {
      return Config.loadFromFile(file.toFile());
    } catch (FileNotFoundException e) {
      throw new StartException("The cluster configuration " + file + " cannot be read.", e);
    } catch (RuntimeException e) {
      throw new StartException(
          "The cluster configuration " + file + " is not what Hazelcast understands: " + reason(e),
          e);
    }
  }

  @Override
  public Vertx join(VertxOptions options, Transport transport) {
    options.setWorkerPoolSize(WORKERS).setInternalBlockingPoolSize(WORKERS);
    options.setEventBusOptions(
        new EventBusOptions()
            .setPort(eventPort)
            .setConnectTimeout(PING_MILLIS)
            .setClusterPingInterval(PING_MILLIS)
            .setClusterPingReplyInterval(PING_MILLIS));
    try {
      Vertx vertx =
          Vertx.builder()
              .with(options)
              .withTransport(transport)
              .withClusterManager(manager)
              .buildClustered()
              .await(JOIN_SECONDS, TimeUnit.SECONDS);
      ownName = name(hazelcast().getCluster().getLocalMember());
      return vertx;
    } catch (TimeoutException e) {
      throw new StartException("The cluster was not joined within " + JOIN_SECONDS + " s.", e);
    } catch (Exception e) {
      throw new StartException("The cluster cannot be joined: " + reasonNotToJoin(e), e);
    }
  }

  private String reasonNotToJoin(Exception failure) {
    Throwable cause = failure;
    int port = eventPort;
    while (cause.getCause() != null) {
      if (cause instanceof HazelcastException) {
        port = config().getNetworkConfig().getPort();
      }
      cause = cause.getCause();
    }
    return cause instanceof BindException
        ? "the port " + port + " is in use, or its address is no address of this machine."
        : reason(failure);
  }

  /** The innermost message, on one line. */
  private static String reason(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String message = cause.getMessage() == null ? cause.toString() : cause.getMessage();
    return message.strip().replaceAll("\\s+", " ");
  }

  @Override
  public Optional<EventChannel> channel(Vertx joined) {
    return Optional.of(new BusChannel(joined));
  }

  @Override
  public String name(String self) {
    return ownName;
  }

  @Override
  public List<String> members(String self) {
    try {
      return hazelcast().getCluster().getMembers().stream()
          .map(HazelcastCluster::name)
          .sorted()
          .toList();
    } catch (HazelcastInstanceNotActiveException cutOff) {
      return List.of(ownName);
    }
  }

  private static String name(Member member) {
    return "lectus@" + member.getAddress().getHost() + ":" + member.getAddress().getPort();
  }

  Config config() {
    return manager.getConfig();
  }

  HazelcastInstance hazelcast() {
    return manager.getHazelcastInstance();
  }
}
