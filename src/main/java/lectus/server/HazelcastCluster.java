package lectus.server;

import com.hazelcast.cluster.Member;
import com.hazelcast.config.Config;
import com.hazelcast.config.MultiMapConfig;
import com.hazelcast.core.HazelcastException;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageCodec;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.transport.Transport;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.io.FileNotFoundException;
import java.net.BindException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import lectus.changes.notify.DatabaseEvent;
import lectus.changes.notify.EventChannel;
import lectus.changes.page.Registration;
import lectus.changes.page.TouchedShards;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.error.StartException;
import lectus.server.NodeSettings.ClusterSettings;

/**
 * A member of a Hazelcast cluster. Hazelcast knows the members and their event subscriptions. The
 * events go from server to server over Vert.x's event bus. No data passes through either.
 *
 * <p>The only class that uses Hazelcast: a server that stands alone never loads it.
 */
public final class HazelcastCluster implements ClusterMembership {
  private static final String LOOPBACK = "cluster-loopback.yaml";
  private static final long JOIN_SECONDS = 120;

  /** Joining, and looking up subscriptions, blocks until other members answer. */
  private static final int WORKERS = 4;

  /**
   * Nothing more is sent to a member that cannot be connected to in this time, or does not answer
   * in twice as much.
   */
  private static final int PING_MILLIS = 5_000;

  /** Defaults, which the configuration file overrides. */
  private static final Map<String, String> PROPERTIES =
      Map.of(
          "hazelcast.logging.type", "slf4j",
          "hazelcast.phone.home.enabled", "false",
          // A member that does not answer for so long is removed.
          "hazelcast.heartbeat.interval.seconds", "3",
          "hazelcast.max.no.heartbeat.seconds", "15",
          // The parts of a cluster that was split look for each other.
          "hazelcast.merge.first.run.delay.seconds", "20",
          "hazelcast.merge.next.run.delay.seconds", "20",
          // A short wait is enough: subscribers publish their subscriptions again.
          "hazelcast.graceful.shutdown.max.wait", "5");

  private final HazelcastClusterManager manager;
  private final int eventPort;
  private volatile String ownName;

  /**
   * @throws StartException one sentence why the configuration cannot be used
   */
  public HazelcastCluster(ClusterSettings settings) {
    // Hazelcast logs while it reads its configuration, before it knows the configured logging.
    System.setProperty("hazelcast.logging.type", "slf4j");
    Config config =
        settings.file().map(HazelcastCluster::read).orElseGet(HazelcastCluster::loopback);
    PROPERTIES.forEach(
        (name, value) -> {
          if (config.getProperty(name) == null) {
            config.setProperty(name, value);
          }
        });
    // Vert.x keeps the subscriptions here: several for one address, without duplicates.
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
      throw StartException.lasting("The cluster configuration " + file + " cannot be read.", e);
    } catch (RuntimeException e) {
      throw StartException.lasting(
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

  /** Returns the innermost message, on one line. */
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

  public HazelcastInstance hazelcast() {
    return manager.getHazelcastInstance();
  }

  /**
   * Events over Vert.x's clustered event bus, which sends a message to the servers with a consumer
   * at its address. All consumers run on one event loop.
   */
  private static final class BusChannel implements EventChannel {
    private static final String SENDER = "sender";

    private final Vertx vertx;
    private final Context context;
    private final String self = UUID.randomUUID().toString();
    private final DeliveryOptions delivery;

    BusChannel(Vertx vertx) {
      DatabaseEventCodec codec = new DatabaseEventCodec();
      vertx.eventBus().registerCodec(codec);
      this.vertx = vertx;
      this.context = vertx.getOrCreateContext();
      this.delivery = new DeliveryOptions().setCodecName(codec.name()).addHeader(SENDER, self);
    }

    static String name(int address) {
      return "lectus.database_event." + address;
    }

    @Override
    public void publish(DatabaseEvent event) {
      vertx.eventBus().publish(name(event.address()), event, delivery);
    }

    @Override
    public Registration subscribe(int address, Consumer<DatabaseEvent> receiver) {
      MessageConsumer<DatabaseEvent> consumer = vertx.eventBus().consumer(name(address));
      context.runOnContext(none -> consumer.handler(message -> receive(message, receiver)));
      return () -> context.runOnContext(none -> consumer.unregister());
    }

    private void receive(Message<DatabaseEvent> message, Consumer<DatabaseEvent> receiver) {
      if (!self.equals(message.headers().get(SENDER))) {
        receiver.accept(message.body());
      }
    }
  }

  /**
   * {@link DatabaseEvent} on the event bus: by reference inside one server; between servers as four
   * bytes of length and its members printed in ASCII, separated by spaces. A later version may
   * append members, which are skipped.
   */
  public static final class DatabaseEventCodec
      implements MessageCodec<DatabaseEvent, DatabaseEvent> {
    private static final int NAME = 4;
    private static final int SHARDS = 5;
    private static final String SHARD_SEPARATOR = ",";

    /** Neither a sequence nor a name is printed like this. */
    private static final String NONE = "-";

    @Override
    public void encodeToWire(Buffer wire, DatabaseEvent event) {
      String text =
          String.join(
              " ",
              event.storeId(),
              event.instance().hex(),
              event.kind().name(),
              event.sequence().map(Sequence::toString).orElse(NONE),
              event.name().map(DatabaseName::text).orElse(NONE),
              shards(event.shards()));
      byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
      wire.appendInt(bytes.length).appendBytes(bytes);
    }

    @Override
    public DatabaseEvent decodeFromWire(int position, Buffer wire) {
      int start = position + Integer.BYTES;
      byte[] bytes = wire.getBytes(start, start + wire.getInt(position));
      String[] parts = new String(bytes, StandardCharsets.US_ASCII).split(" ");
      DatabaseEvent.Kind kind = DatabaseEvent.Kind.of(parts[2]);
      return new DatabaseEvent(
          parts[0],
          new InstanceId(parts[1]),
          kind,
          parts[3].equals(NONE) ? Optional.empty() : Sequence.parse(parts[3]),
          name(parts),
          kind == DatabaseEvent.Kind.UPDATED ? shards(parts) : TouchedShards.ANY);
    }

    private static String shards(TouchedShards shards) {
      return shards.ids().isEmpty()
          ? NONE
          : shards.ids().stream().map(ShardId::text).collect(Collectors.joining(SHARD_SEPARATOR));
    }

    private static TouchedShards shards(String[] parts) {
      if (parts[SHARDS].equals(NONE)) {
        return TouchedShards.ANY;
      }
      return new TouchedShards(
          Arrays.stream(parts[SHARDS].split(SHARD_SEPARATOR))
              .map(ShardId::new)
              .collect(Collectors.toSet()));
    }

    private static Optional<DatabaseName> name(String[] parts) {
      return DatabaseName.isLegal(parts[NAME])
          ? Optional.of(new DatabaseName(parts[NAME]))
          : Optional.empty();
    }

    @Override
    public DatabaseEvent transform(DatabaseEvent event) {
      return event;
    }

    @Override
    public String name() {
      return "lectus.database_event";
    }

    @Override
    public byte systemCodecID() {
      return -1;
    }
  }
}
