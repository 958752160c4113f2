package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.audit.testing.SoundStore;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.server.testing.ClusterFile;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Members that leave, freeze, die or are cut off, beside two that go on. */
final class ClusterFaultsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  @TempDir private static Path folder;

  private static final PollSettings OFTEN =
      new PollSettings(Duration.ofMillis(20), Duration.ofMillis(200));
  private static final AtomicInteger databases = new AtomicInteger();

  private static Path file;
  private static Store store;
  private static Member first;
  private static Member second;
  private static LectusServer writer;
  private static LectusServer other;

  private final String database = "db" + databases.incrementAndGet();

  @BeforeAll
  static void form() {
    file = ClusterFile.write(folder);
    store = stores.fresh();
    first = new Member(file, store, ClusterTest.HOURLY);
    second = new Member(file, store, ClusterTest.HOURLY);
    writer = first.server();
    other = second.server();
  }

  @AfterAll
  static void leave() {
    second.close();
    first.close();
  }

  @BeforeEach
  void create() {
    writer.put("/" + database);
  }

  private MemberProcess process() {
    return MemberProcess.start(file, folder.resolve(database));
  }

  private ContinuousFeed feedOf(LectusServer server) {
    ContinuousFeed feed = new ContinuousFeed(server, database, "now");
    feed.wakeBy(number -> writer.write(path("warm" + number), "{}"));
    return feed;
  }

  private String path(String id) {
    return "/" + database + "/" + id;
  }

  private void assertWoken(ContinuousFeed feed, String id) {
    writer.write(path(id), "{}");
    assertThat(feed.nextIdBut("warm")).isEqualTo(id);
  }

  @Test
  void a_member_that_freezes_or_dies_disturbs_nobody_elses_listeners() {
    try (MemberProcess third = process();
        ContinuousFeed feed = feedOf(other)) {
      ClusterTest.membersOf(writer, 3);
      third.freeze();
      for (int i = 0; i < 50; i++) {
        assertWoken(feed, "frozen" + i);
      }
      third.kill();
      for (int i = 0; i < 50; i++) {
        assertWoken(feed, "dead" + i);
      }
      ClusterTest.membersOf(writer, 2);
      assertWoken(feed, "gone");
    }
  }

  @Test
  void a_process_that_is_told_to_end_leaves_and_its_data_stays_its_own() {
    try (MemberProcess third = process();
        ContinuousFeed feed = feedOf(other)) {
      ClusterTest.membersOf(other, 3);
      third.get("/" + database).expect(404);
      third.put("/" + database, "").expect(201);
      third.put(path("foreign"), "{}").expect(201);
      third.stop();

      ClusterTest.membersOf(writer, 2);
      ClusterTest.membersOf(other, 2);
      assertWoken(feed, "a");
    }
  }

  @Test
  void a_member_that_is_cut_off_goes_on_with_its_polls() {
    try (Member third = new Member(file, store, OFTEN);
        ContinuousFeed feed = new ContinuousFeed(third.server(), database, "now")) {
      List<String> all = ClusterTest.membersOf(third.server(), 3);
      third.cutOff();
      ClusterTest.membersOf(writer, 2);
      for (int i = 0; i < 5; i++) {
        assertWoken(feed, "d" + i);
      }
      assertThat(ClusterTest.membersOf(third.server())).hasSize(1).isSubsetOf(all);
      third.server().put(path("e"), "{}").expect(201);
      assertThat(feed.nextId()).isEqualTo("e");
    }
  }

  @Test
  void the_last_writes_of_a_member_that_leaves_wake_the_others() {
    int count = 200;
    Member leaving = new Member(file, store, ClusterTest.HOURLY);
    try (ContinuousFeed feed = new ContinuousFeed(other, database, "now")) {
      feed.wakeBy(number -> leaving.server().write(path("warm" + number), "{}"));
      try (Connection connection = leaving.server().connect()) {
        for (int i = 0; i < count; i++) {
          connection.write(
              "PUT "
                  + path("d" + i)
                  + "?batch=ok HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}");
        }
        for (int i = 0; i < count; i++) {
          connection.read(false).expect(202);
        }
      }
      leaving.close();

      Set<String> seen = new HashSet<>();
      for (int i = 0; i < count; i++) {
        seen.add(feed.nextIdBut("warm"));
      }
      assertThat(seen).hasSize(count);
    }
  }

  @Test
  void a_member_leaves_when_its_last_request_is_answered() {
    Member leaving = new Member(file, store, ClusterTest.HOURLY);
    ClusterTest.membersOf(writer, 3);
    try (Connection slow = leaving.server().connect();
        Connection idle = leaving.server().connect()) {
      slow.write("PUT " + path("slow") + " HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{");
      idle.write("GET /_up HTTP/1.1\r\nHost: h\r\n\r\n");
      idle.read(false).expect(200);
      CompletableFuture<Void> left = CompletableFuture.runAsync(leaving::close);
      assertThat(idle.isAtEnd()).isTrue();
      assertThat(ClusterTest.membersOf(writer)).hasSize(3);
      slow.write("}");

      slow.read(false).expect(201);
      assertThat(slow.isAtEnd()).isTrue();
      left.join();
      ClusterTest.membersOf(writer, 2);
      other.get(path("slow")).expect(200);
    }
  }
}
