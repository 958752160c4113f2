package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import lectus.audit.testing.SoundStore;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.server.NodeSettings.ClusterSettings;
import lectus.server.testing.ClusterFile;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Servers of one Hazelcast cluster on one store. They poll once an hour, so that only the event bus
 * can have woken a listener.
 */
final class ClusterTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  @TempDir private static Path folder;

  static final PollSettings HOURLY = new PollSettings(Duration.ofHours(1), Duration.ofHours(1));
  private static final Pattern NAME = Pattern.compile("\"(lectus@127\\.0\\.0\\.1:\\d+)\"");

  /** Tells a WebSocket's client to reconnect, elsewhere or later. */
  private static final int GOING_AWAY = 1001;

  private static final AtomicInteger databases = new AtomicInteger();

  private static final List<Member> members = new ArrayList<>();
  private static Store store;
  private static Path file;
  private static LectusServer one;
  private static LectusServer two;
  private static LectusServer three;

  private final String database = "db" + databases.incrementAndGet();

  @BeforeAll
  static void form() {
    store = stores.fresh();
    file = ClusterFile.write(folder);
    one = join().server();
    two = join().server();
    three = join().server();
  }

  private static Member join() {
    Member member = new Member(file, store, HOURLY);
    members.add(member);
    return member;
  }

  @AfterAll
  static void leave() {
    members.forEach(Member::close);
    // The class may be run once more.
    members.clear();
  }

  /** Opens a feed, and returns once writes through another member are known to wake it. */
  private ContinuousFeed feedOf(LectusServer server, LectusServer writer) {
    ContinuousFeed feed = new ContinuousFeed(server, database, "now");
    feed.wakeBy(
        number -> writer.write("/" + database + "/warm" + server.port() + "-" + number, "{}"));
    return feed;
  }

  /**
   * A member learns of each subscription a little later. Until it knows of the second one, it may
   * send an event to the first alone.
   */
  private void awaitBothSubscriptions(ContinuousFeed first, ContinuousFeed second) {
    AtomicInteger number = new AtomicInteger();
    Await.until(
        "both are told of the same write",
        () -> {
          String id = "warm-both" + number.getAndIncrement();
          one.write("/" + database + "/" + id, "{}");
          return first.sees(id) && second.sees(id);
        });
  }

  private void wakeByOne(ContinuousFeed feed) {
    feed.wakeBy(number -> one.write("/" + database + "/warm" + number, "{}"));
  }

  static List<String> membersOf(LectusServer server) {
    String json = server.get("/_membership").body();
    String all = json.substring(0, json.indexOf("cluster_nodes"));
    List<String> names = NAME.matcher(all).results().map(match -> match.group(1)).toList();
    assertThat(json).endsWith("],\"cluster_nodes\":[\"" + String.join("\",\"", names) + "\"]}\n");
    return names;
  }

  /** Returns the answer of one member once it counts so many members. */
  static List<String> membersOf(LectusServer server, int count) {
    Await.until("there are " + count + " members", () -> membersOf(server).size() == count);
    return membersOf(server);
  }

  @Test
  void every_member_names_all_of_them() {
    List<String> names = membersOf(one, 3);

    assertThat(names).isSorted().doesNotHaveDuplicates();
    membersOf(two, 3);
    membersOf(three, 3);
    assertThat(membersOf(two)).isEqualTo(names);
    assertThat(membersOf(three)).isEqualTo(names);
    three.get("/_cluster_setup").expect("{\"state\":\"cluster_enabled\"}\n");
    assertThat(Stream.of(one, two, three).map(it -> it.get("/_node/_local").member("name")))
        .containsExactlyInAnyOrderElementsOf(names);
  }

  @Test
  void a_write_through_one_member_wakes_listeners_on_the_others() {
    one.put("/" + database);
    try (ContinuousFeed feedOfTwo = feedOf(two, one);
        ContinuousFeed feedOfThree = feedOf(three, one)) {
      awaitBothSubscriptions(feedOfTwo, feedOfThree);
      for (int i = 0; i < 20; i++) {
        one.write("/" + database + "/d" + i, "{}");
        assertThat(feedOfTwo.nextIdBut("warm")).isEqualTo("d" + i);
        assertThat(feedOfThree.nextIdBut("warm")).isEqualTo("d" + i);
      }
    }
  }

  @Test
  void a_write_through_one_member_wakes_event_sources_on_the_others() {
    one.put("/" + database);
    try (ContinuousFeed events =
        new ContinuousFeed(three.port(), "/" + database + "/_changes?feed=eventsource&since=now")) {
      wakeByOne(events);
      for (int i = 0; i < 20; i++) {
        one.write("/" + database + "/d" + i, "{}");
        assertThat(events.nextIdBut("warm")).isEqualTo("d" + i);
      }
    }
  }

  @Test
  void a_write_through_one_member_wakes_websockets_of_one_database_on_the_others() {
    one.put("/" + database);
    try (ContinuousFeed feed = feedOf(three, one);
        SocketClient socket = SocketClient.connect(three, "/" + database + "/_changes?since=0")) {
      Await.until("the socket reads", () -> socket.text().contains("\"warm"));
      for (int i = 0; i < 20; i++) {
        one.write("/" + database + "/d" + i, "{}");
        assertThat(feed.nextIdBut("warm")).isEqualTo("d" + i);
        assertThat(rowBut("warm", socket)).isEqualTo("d" + i);
      }
    }
  }

  private static String rowBut(String head, SocketClient socket) {
    String id = ContinuousFeed.idOf(socket.text());
    while (id.startsWith(head)) {
      id = ContinuousFeed.idOf(socket.text());
    }
    return id;
  }

  @Test
  void a_write_through_one_member_wakes_subscriptions_on_the_others() {
    one.put("/" + database);
    try (ContinuousFeed feed = feedOf(two, one);
        SocketClient socket = SocketClient.connect(two, "/_changes", "lectus.changes.v1")) {
      socket.send(
          "{\"type\":\"subscribe\",\"id\":\"s\",\"db\":\"" + database + "\",\"since\":\"now\"}");
      assertThat(socket.message("caught_up", "id")).isEqualTo("s");
      for (int i = 0; i < 20; i++) {
        one.write("/" + database + "/d" + i, "{}");
        assertThat(feed.nextIdBut("warm")).isEqualTo("d" + i);
        assertThat(nextOf(socket)).contains("\"type\":\"row\"", "\"d" + i + "\"");
      }
    }
  }

  /** Returns the next message except {@code caught_up}, which comes once a second. */
  private static String nextOf(SocketClient socket) {
    String message = socket.text();
    while (message.contains("\"type\":\"caught_up\"")) {
      message = socket.text();
    }
    return message;
  }

  @Test
  void a_deletion_through_one_member_ends_feeds_on_the_others() {
    one.put("/" + database);
    try (ContinuousFeed feed = feedOf(three, one)) {
      one.delete("/" + database);

      assertThat(feed.lastLine()).startsWith("{\"last_seq\":");
    }
  }

  @Test
  void events_go_only_to_members_that_have_listeners_for_the_database() {
    one.put("/" + database);
    Member bystander = join();
    try (ContinuousFeed feed = feedOf(three, one)) {
      one.write("/" + database + "/a", "{}");
      assertThat(feed.nextIdBut("warm")).isEqualTo("a");
      assertThat(members.get(2).received()).isNotEmpty();
      assertThat(bystander.received()).isEmpty();
    } finally {
      members.remove(bystander);
      bystander.close();
    }
  }

  @Test
  void a_member_that_leaves_ends_its_feeds_and_is_gone_from_the_list() {
    one.put("/" + database);
    List<String> before = membersOf(one, 3);
    Member leaving = join();
    members.remove(leaving);
    try (ContinuousFeed feed = feedOf(leaving.server(), one);
        SocketClient socket =
            SocketClient.connect(leaving.server(), "/_changes", "lectus.changes.v1");
        ContinuousFeed elsewhere = feedOf(two, one)) {
      assertThat(membersOf(two)).hasSize(4).containsAll(before);
      leaving.close();

      assertThat(feed.lastLine()).startsWith("{\"last_seq\":");
      assertThat(socket.closeCode()).isEqualTo(GOING_AWAY);
      assertThat(membersOf(one, 3)).isEqualTo(before);
      for (int i = 0; i < 10; i++) {
        one.write("/" + database + "/d" + i, "{}");
        assertThat(elsewhere.nextIdBut("warm")).isEqualTo("d" + i);
      }
    }
  }

  private static Config config(Optional<Path> file) {
    return new HazelcastCluster(new ClusterSettings(file, 0)).config();
  }

  @Test
  void without_a_file_members_meet_over_loopback_only() {
    Config config = config(Optional.empty());
    JoinConfig join = config.getNetworkConfig().getJoin();

    assertThat(join.getTcpIpConfig().isEnabled()).isTrue();
    assertThat(join.getTcpIpConfig().getMembers()).containsExactly("127.0.0.1");
    assertThat(join.getMulticastConfig().isEnabled()).isFalse();
    assertThat(join.isAutoDetectionEnabled()).isFalse();
    assertThat(config.getNetworkConfig().getInterfaces().isEnabled()).isTrue();
    assertThat(config.getNetworkConfig().getInterfaces().getInterfaces())
        .containsExactly("127.0.0.1");
    assertThat(config.getProperty("hazelcast.socket.bind.any")).isEqualTo("false");
  }

  @ParameterizedTest
  @ValueSource(strings = {"loopback", "members", "kubernetes"})
  void the_files_that_come_with_lectus_are_sound(String name) {
    Config config = config(Optional.of(Path.of("conf/cluster-" + name + ".yaml")));
    JoinConfig join = config.getNetworkConfig().getJoin();

    assertThatCode(join::verify).doesNotThrowAnyException();
    assertThat(join.getMulticastConfig().isEnabled()).isFalse();
    assertThat(join.isAutoDetectionEnabled()).isFalse();
    assertThat(join.getKubernetesConfig().isEnabled()).isEqualTo(name.equals("kubernetes"));
    assertThat(config.getClusterName()).isEqualTo("lectus");
    assertThat(config.getProperty("hazelcast.phone.home.enabled")).isEqualTo("false");
    assertThat(config.getProperty("hazelcast.logging.type")).isEqualTo("slf4j");
  }
}
