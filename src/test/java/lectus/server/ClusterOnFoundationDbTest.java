package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import lectus.http.testing.LectusServer;
import lectus.server.testing.ClusterFile;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Members in processes of their own that share a FoundationDB cluster, as in production. */
final class ClusterOnFoundationDbTest {
  @RegisterExtension static final TestStores stores = new TestStores();
  @TempDir private static Path folder;

  @Test
  void a_write_through_one_process_wakes_listeners_on_the_others() {
    TestStores.onlyCluster();
    Path file = ClusterFile.write(folder);
    Store store = stores.fresh();
    try (Member here = new Member(file, store, ClusterTest.HOURLY);
        MemberProcess second = MemberProcess.start(file, store);
        MemberProcess third = MemberProcess.start(file, store)) {
      LectusServer server = here.server();
      ClusterTest.membersOf(server, 3);
      second.put("/w", "").expect(201);
      try (ContinuousFeed feedHere = new ContinuousFeed(server.port(), "w", "now");
          ContinuousFeed feedOfThird = new ContinuousFeed(third.port(), "w", "now")) {
        feedHere.wakeBy(number -> second.put("/w/warm-here" + number, "{}"));
        feedOfThird.wakeBy(number -> second.put("/w/warm" + number, "{}"));
        for (int i = 0; i < 20; i++) {
          second.put("/w/d" + i, "{}").expect(201);
          assertThat(feedHere.nextIdBut("warm")).isEqualTo("d" + i);
          assertThat(feedOfThird.nextIdBut("warm")).isEqualTo("d" + i);
        }
        second.kill();
        server.write("/w/after", "{}");
        assertThat(feedOfThird.nextIdBut("warm")).isEqualTo("after");
      }
    }
  }
}
