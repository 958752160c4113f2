package lectus.server.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lectus.server.connection.ConnectionGate.ClientChannel;
import lectus.server.connection.ConnectionGate.ConnectionLimit;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Which connections are admitted, and which are evicted for them. */
final class OpenConnectionsTest {
  private static final int MOST = 3;
  private static final long HOUR = TimeUnit.HOURS.toNanos(1);

  private final OpenConnections open = new OpenConnections(MOST, HOUR, HOUR);
  private final List<String> evicted = new ArrayList<>();

  private final class Client implements OpenConnections.Connection {
    private final String name;
    private String network = "here";
    private boolean idle = true;
    private boolean used = true;
    private long sinceNanos = System.nanoTime();

    Client(String name) {
      this.name = name;
    }

    Client admitted() {
      assertThat(open.admit(this)).isTrue();
      return this;
    }

    Client busy() {
      idle = false;
      return this;
    }

    /** Serves it for a moment. */
    void use() {
      sinceNanos = System.nanoTime();
      idle = true;
    }

    @Override
    public boolean isIdle() {
      return idle;
    }

    @Override
    public long idleSinceNanos() {
      return sinceNanos;
    }

    @Override
    public boolean hasBeenUsed() {
      return used;
    }

    /** Makes it a connection that has sent no request yet. */
    Client silentSince(long nanos) {
      used = false;
      sinceNanos = nanos;
      return this;
    }

    @Override
    public String network() {
      return network;
    }

    @Override
    public Object culprit() {
      return network;
    }

    /** Lets it come from elsewhere than the others. */
    Client from(String elsewhere) {
      network = elsewhere;
      return this;
    }

    @Override
    public void evict() {
      evicted.add(name);
    }
  }

  @Test
  void up_to_the_bound_nobody_goes() {
    for (int i = 0; i < MOST; i++) {
      new Client("c" + i).admitted();
    }
    assertThat(evicted).isEmpty();
    assertThat(open.count()).isEqualTo(MOST);
  }

  @Test
  void beyond_it_they_go_in_the_order_in_which_they_were_used() {
    Client a = new Client("a").admitted();
    Client b = new Client("b").admitted();
    new Client("c").admitted();
    b.use();
    a.use();

    for (String name : List.of("d", "e", "f", "g")) {
      new Client(name).admitted();
    }
    assertThat(evicted).containsExactly("c", "b", "a", "d");
    assertThat(open.count()).isEqualTo(MOST);
  }

  @Test
  void who_is_busy_stays_and_goes_in_turn_when_it_was_served() {
    Client a = new Client("a").admitted().busy();
    new Client("b").admitted();
    new Client("c").admitted().busy();
    new Client("d").admitted().busy();
    assertThat(evicted).containsExactly("b");
    assertThat(open.admit(new Client("refused"))).isFalse();
    assertThat(open.count()).isEqualTo(MOST);

    a.use();
    new Client("e").admitted();
    assertThat(evicted).containsExactly("b", "a");
  }

  /**
   * Otherwise a client that reconnects again and again would shut out all others before they send
   * anything.
   */
  @Test
  void who_has_just_come_and_was_not_served_yet_does_not_go_for_another() {
    long now = System.nanoTime();
    Client a = new Client("a").silentSince(now).admitted();
    new Client("b").silentSince(now).admitted();
    new Client("c").admitted().busy();
    assertThat(open.admit(new Client("refused"))).isFalse();
    assertThat(open.admit(new Client("refused"))).isFalse();
    assertThat(evicted).isEmpty();
    assertThat(open.count()).isEqualTo(MOST);

    a.silentSince(now - HOUR);
    new Client("d").admitted().busy();
    assertThat(evicted).containsExactly("a");
  }

  @Test
  void one_that_was_served_goes_before_those_that_have_just_come() {
    long now = System.nanoTime();
    new Client("fresh").silentSince(now).admitted();
    new Client("served").admitted();
    new Client("busy").admitted().busy();
    new Client("d").admitted();
    assertThat(evicted).containsExactly("served");
  }

  /** At most a few hundred are examined, and each of these was used since it got its place. */
  @Test
  void among_many_that_were_used_since_one_goes_nevertheless() {
    int many = 1_000;
    OpenConnections crowd = new OpenConnections(many, HOUR, HOUR);
    List<Client> clients = new ArrayList<>();
    for (int i = 0; i < many; i++) {
      Client client = new Client("c" + i);
      clients.add(client);
      assertThat(crowd.admit(client)).isTrue();
    }
    clients.forEach(Client::use);

    assertThat(crowd.admit(new Client("late"))).isTrue();
    assertThat(evicted).containsExactly("c0");
    assertThat(crowd.count()).isEqualTo(many);
  }

  @Test
  void who_closes_makes_room() {
    Client a = new Client("a").admitted().busy();
    new Client("b").admitted().busy();
    new Client("c").admitted().busy();
    open.closed(a);
    open.closed(a);

    new Client("d").admitted().busy();
    assertThat(open.admit(new Client("refused"))).isFalse();
    assertThat(evicted).isEmpty();
  }

  /** It came into use while it was to be closed. */
  @Test
  void who_is_spared_counts_again() {
    Client a = new Client("a").admitted();
    new Client("b").admitted().busy();
    new Client("c").admitted().busy();
    new Client("d").admitted().busy();
    open.spared(a.busy());

    assertThat(open.count()).isEqualTo(MOST + 1);
    assertThat(open.admit(new Client("refused"))).isFalse();
    open.closed(a);
    assertThat(open.count()).isEqualTo(MOST);
  }

  private static OpenConnections full(int most, long restNanos, List<Looked> looked) {
    OpenConnections connections = new OpenConnections(most, HOUR, restNanos);
    for (int i = 0; i < most; i++) {
      looked.add(new Looked());
      assertThat(connections.admit(looked.get(i))).isTrue();
    }
    assertThat(connections.admit(new Looked())).isFalse();
    looked.forEach(it -> it.idle = true);
    return connections;
  }

  /** Busy until the test says otherwise. */
  private static final class Looked implements OpenConnections.Connection {
    private boolean idle;

    @Override
    public String network() {
      return "here";
    }

    @Override
    public Object culprit() {
      return this;
    }

    @Override
    public boolean isIdle() {
      return idle;
    }

    @Override
    public long idleSinceNanos() {
      return System.nanoTime() - 1;
    }

    @Override
    public boolean hasBeenUsed() {
      return true;
    }

    @Override
    public void evict() {}
  }

  @Test
  void where_many_were_busy_nobody_is_looked_for_until_a_rest_is_over() {
    assertThat(full(256, HOUR, new ArrayList<>()).admit(new Looked())).isFalse();
    assertThat(full(256, 0, new ArrayList<>()).admit(new Looked())).isTrue();
  }

  @Test
  void where_few_are_open_one_is_looked_for_each_time() {
    assertThat(full(254, HOUR, new ArrayList<>()).admit(new Looked())).isTrue();
  }

  private static final int MANY = 64;

  /** An eighth of all may be of one network and send nothing. */
  private static final int CROWD = MANY / 8;

  /** Good clients hold all places but those of a flood, which has just come. */
  private OpenConnections flooded(int flood) {
    OpenConnections full = new OpenConnections(MANY, HOUR, HOUR);
    for (int i = 0; i < MANY - flood; i++) {
      assertThat(full.admit(new Client("good" + i).from("good" + i))).isTrue();
    }
    for (int i = 0; i < flood; i++) {
      Client bad = new Client("bad" + i).from("bad").silentSince(System.nanoTime());
      assertThat(full.admit(bad)).isTrue();
    }
    return full;
  }

  @Test
  void a_flood_of_one_network_makes_room_for_others_the_oldest_first() {
    OpenConnections full = flooded(CROWD + 2);
    for (int i = 0; i < 3; i++) {
      Client late = new Client("late" + i).from("late").silentSince(System.nanoTime());
      assertThat(full.admit(late)).isTrue();
    }
    assertThat(evicted).containsExactly("bad0", "bad1", "bad2");
    assertThat(full.count()).isEqualTo(MANY);
  }

  @Test
  void a_flood_takes_no_more_places_of_others_than_its_share() {
    OpenConnections full = flooded(0);
    int admitted = 0;
    for (int i = 0; i < 3 * CROWD; i++) {
      Client bad = new Client("bad" + i).from("bad").silentSince(System.nanoTime());
      admitted += full.admit(bad) ? 1 : 0;
    }
    assertThat(admitted).isEqualTo(CROWD);
    assertThat(evicted).hasSize(CROWD).allMatch(name -> name.startsWith("good"));
  }

  @Test
  void newcomers_of_a_flood_take_the_places_of_those_who_had_their_time() {
    OpenConnections full = new OpenConnections(MANY, HOUR, HOUR);
    for (int i = 0; i < MANY; i++) {
      full.admit(new Client("bad" + i).from("bad").silentSince(System.nanoTime() - HOUR / 2));
    }
    assertThat(full.admit(new Client("late").from("bad").silentSince(System.nanoTime()))).isTrue();
    assertThat(evicted).containsExactly("bad0");
  }

  @Test
  void connections_with_requests_are_no_flood_however_many_there_are() {
    OpenConnections full = new OpenConnections(MANY, HOUR, HOUR);
    for (int i = 0; i < MANY; i++) {
      full.admit(new Client("c" + i).from("proxy"));
    }
    assertThat(full.admit(new Client("late").from("proxy").silentSince(System.nanoTime())))
        .isTrue();
    assertThat(evicted).containsExactly("c0");
  }

  @Test
  void who_left_a_flood_is_not_evicted() {
    OpenConnections full = new OpenConnections(MANY, HOUR, HOUR);
    List<Client> bad = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      bad.add(new Client("bad" + i).from("bad").silentSince(System.nanoTime()));
      full.admit(bad.get(i));
    }
    full.closed(bad.get(0));
    full.admit(new Client("late0").from("late"));
    full.admit(new Client("late1").from("late"));
    assertThat(evicted).containsExactly("bad1");
  }

  @Test
  void who_had_too_many_streams_reset_opens_no_connection_and_others_do() {
    Client hostile = new Client("a").admitted();
    for (int i = 1; i < OpenConnections.MAX_RESETS; i++) {
      assertThat(open.toleratesReset(hostile)).isTrue();
    }
    new Client("b").admitted();
    assertThat(open.toleratesReset(hostile)).isFalse();

    assertThat(open.admit(new Client("c"))).isFalse();
    Client elsewhere = new Client("d");
    elsewhere.network = "there";
    assertThat(open.admit(elsewhere)).isTrue();
  }

  @Test
  void there_is_memory_for_them() {
    assertThat(ConnectionLimit.of(640, Long.MAX_VALUE)).isEqualTo(640);
    assertThat(ConnectionLimit.of(640, 1_280)).isEqualTo(640);
  }

  @Test
  void the_store_has_half_of_the_descriptors() {
    assertThat(ConnectionLimit.of(640, 1_278)).isEqualTo(639);
    assertThat(ConnectionLimit.of(10_000, 1_024)).isEqualTo(512);
  }

  @Test
  void some_there_are_always() {
    assertThat(ConnectionLimit.of(1_000, 1)).isEqualTo(64);
    assertThat(ConnectionLimit.of(63, 1)).isEqualTo(63);
    assertThat(ConnectionLimit.descriptors()).isGreaterThan(64);
  }

  /** A connection that is to be evicted for another. */
  @Nested
  class Channels {
    private final OpenConnections open = new OpenConnections(1);
    private final EmbeddedChannel channel = new EmbeddedChannel(new Lingering());
    private final ClientChannel client = new ClientChannel(channel, open, address -> false);

    /** After a last answer the server reads on for a while, though Vert.x closes. */
    private static final class Lingering extends ChannelOutboundHandlerAdapter {
      @Override
      public void close(ChannelHandlerContext context, ChannelPromise closed) {}
    }

    @Test
    void one_that_stays_idle_is_closed_even_if_it_lingers() {
      client.evict();
      theLoopLooksAtItsSockets();
      assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void one_that_has_come_into_use_unnoticed_is_spared() {
      client.evict();
      channel.runPendingTasks();
      assertThat(channel.isOpen()).isTrue();
      channel.write(Unpooled.wrappedBuffer(new byte[1]));
      theLoopLooksAtItsSockets();
      assertThat(channel.isOpen()).isTrue();
      assertThat(open.count()).isOne();
    }

    private void theLoopLooksAtItsSockets() {
      channel.advanceTimeBy(1, TimeUnit.SECONDS);
      channel.runScheduledPendingTasks();
    }
  }
}
