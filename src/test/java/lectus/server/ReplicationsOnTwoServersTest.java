package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.LectusServer;
import lectus.server.testing.ClusterFile;
import lectus.store.FrozenStore;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Replications of documents, which the members of a cluster share. */
@Timeout(180)
final class ReplicationsOnTwoServersTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final int JOBS = 16;
  private static final Pattern NODE = Pattern.compile("\"node\":\"([^\"]*)\"");
  private static final Pattern ID = Pattern.compile("\"id\":\"([^\"]*)\"");

  @TempDir private Path folder;

  private final Store store = stores.fresh();

  private static void describe(LectusServer server) {
    server.put("/_replicator");
    for (int i = 0; i < JOBS; i++) {
      server.put("/a" + i);
      server.put("/b" + i);
      server.write(
          "/_replicator/r" + i,
          "{\"source\":\"a%d\",\"target\":\"b%d\",\"continuous\":true}".formatted(i, i));
    }
  }

  private static List<String> found(LectusServer server, Pattern what) {
    return what.matcher(server.get("/_scheduler/jobs").body())
        .results()
        .map(match -> match.group(1))
        .toList();
  }

  private static void awaitCopies(LectusServer server, String id) {
    for (int i = 0; i < JOBS; i++) {
      server.write("/a" + i + "/" + id, "{}");
    }
    for (int i = 0; i < JOBS; i++) {
      String copy = "/b" + i + "/" + id;
      Await.until(copy + " has come", () -> server.get(copy).status() == 200);
    }
  }

  private static void awaitShared(LectusServer server) {
    Await.until(
        "both have some of them",
        () -> found(server, ID).size() == JOBS && new HashSet<>(found(server, NODE)).size() == 2);
  }

  private static void awaitAllAt(LectusServer server) {
    Set<String> left = Set.of(server.get("/_node/_local").member("name"));
    Await.until(
        "all are at the one that is left",
        () -> found(server, ID).size() == JOBS && Set.copyOf(found(server, NODE)).equals(left));
  }

  @Test
  void each_replication_has_one_of_the_members_and_another_one_when_that_leaves() {
    Path file = ClusterFile.write(folder);
    try (Member stays = new Member(file, store, ClusterTest.HOURLY)) {
      describe(stays.server());
      awaitCopies(stays.server(), "alone");
      try (Member leaves = new Member(file, store, ClusterTest.HOURLY)) {
        awaitShared(stays.server());
        assertThat(found(leaves.server(), ID))
            .isEqualTo(found(stays.server(), ID))
            .doesNotHaveDuplicates();
        assertThat(leaves.server().get("/_scheduler/docs?states=running").body().split("doc_id"))
            .hasSize(JOBS + 1);
        awaitCopies(leaves.server(), "shared");
      }
      awaitAllAt(stays.server());
      awaitCopies(stays.server(), "alone-again");
    }
  }

  @Test
  void what_a_server_had_that_is_cut_off_runs_elsewhere() {
    Path file = ClusterFile.write(folder);
    FrozenStore frozen = new FrozenStore(store, true);
    try (Member stays = new Member(file, store, ClusterTest.HOURLY);
        Member lost = new Member(file, frozen.store(), ClusterTest.HOURLY)) {
      describe(stays.server());
      awaitShared(stays.server());
      awaitCopies(stays.server(), "shared");
      try {
        frozen.freeze();
        lost.cutOff();
        awaitAllAt(stays.server());
        awaitCopies(stays.server(), "alone");
      } finally {
        frozen.thaw();
      }
      // Whatever it had begun is not stored, or was stored by the other one already.
      awaitCopies(stays.server(), "back");
    }
  }
}
