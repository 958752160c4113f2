package lectus.abuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import lectus.abuse.Line.Target;
import lectus.abuse.Siege.Deadline;
import lectus.abuse.Siege.LargeDatabase;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * All attacks that harmed earlier servers, at once, against a server with a small heap, beside a
 * well-behaved client. The client must notice no more than that the server is busy, and afterwards
 * nothing may be left of the attacks.
 *
 * <p>{@code -Dlectus.abuse.seconds=600} runs longer and makes the process sleep for long; {@code
 * -Dlectus.abuse.each=true} runs each attack alone, too.
 */
@Timeout(3_600)
final class AbuseTest {
  private static final long SEED = Long.getLong("lectus.test.seed", 20_261_122);
  private static final int SECONDS = Integer.getInteger("lectus.abuse.seconds", 8);
  private static final int SECONDS_ASLEEP = SECONDS > 20 ? 30 : 3;
  private static final int HEAP_MEGABYTES = 256;
  private static final int ENDED_BY_SIGTERM = 128 + 15;
  private static final int STOP_SECONDS = 60;

  /** Loose: on a busy machine the attackers and the server share the cores. */
  private static final Duration WORST = Duration.ofSeconds(20);

  /** The well-behaved client may have been between two connections. */
  private static final int MORE_SOCKETS = 2;

  private static final int MORE_DESCRIPTORS = 200;
  private static final int MORE_THREADS = 24;
  private static final int IDLE_ITERATORS = 16;

  @TempDir private Path folder;
  private ServerProcess server;
  private GoodClient client;
  private Target target;

  @BeforeEach
  void start() {
    assumeTrue(ServerProcess.canBeWatched() && !TestStores.isCluster());
    server = ServerProcess.start(folder, HEAP_MEGABYTES);
    target = new Target(server.port());
    LargeDatabase.create(server.port());
    client = GoodClient.start(server.port());
  }

  @AfterEach
  void stop() {
    if (client != null) {
      client.close();
    }
    if (server != null) {
      server.close();
    }
  }

  static List<Attack> attacks() {
    return Attack.all();
  }

  @ParameterizedTest
  @MethodSource("attacks")
  @EnabledIfSystemProperty(named = "lectus.abuse.each", matches = "true")
  void one_attack_alone_harms_nobody(Attack attack) {
    withstand(List.of(attack), false);
  }

  @Test
  void all_attacks_at_once_and_a_sleeping_process_harm_nobody() {
    withstand(Attack.all(), true);
  }

  private void withstand(List<Attack> attacks, boolean sleeping) {
    int descriptors = server.descriptors();
    int threads = server.threads();
    int sockets = server.sockets();
    try (Siege siege = Siege.begin(attacks, target, SEED, Duration.ofSeconds(SECONDS))) {
      Deadline awake = Deadline.in(Duration.ofSeconds(SECONDS / 2));
      while (!awake.isOver()) {
        awake.pause(100);
      }
      if (sleeping) {
        assertThat(client.latencies().percentile(100)).isLessThan(WORST);
        server.sleep(Duration.ofSeconds(SECONDS_ASLEEP));
      }
      assertThat(siege.end()).isEmpty();
    }
    assertThat(client.finish()).isEmpty();
    assertThat(client.written()).isNotEmpty();
    assertNothingIsLeft(descriptors, threads, sockets);
    assertEndsInOrder(client.written());
  }

  private void assertNothingIsLeft(int descriptors, int threads, int sockets) {
    assertThat(server.isAlive()).isTrue();
    assertThat(ServerLog.complaints(server.log())).isEmpty();
    assertThat(target.statuses()).doesNotContainKeys(500, 502, 504, 505);
    Await.until(
        "the attackers' sockets are closed", () -> server.sockets() <= sockets + MORE_SOCKETS);
    Await.until(
        "what they had open is closed",
        () ->
            server.descriptors() <= descriptors + MORE_DESCRIPTORS
                && server.threads() <= threads + MORE_THREADS);
    Await.until("no iterator is open", () -> server.liveHeap().openIterators() <= IDLE_ITERATORS);
  }

  private void assertEndsInOrder(Set<String> written) {
    client.close();
    assertThat(server.stop(STOP_SECONDS)).isEqualTo(ENDED_BY_SIGTERM);
    assertThat(ServerLog.complaints(server.log())).isEmpty();
    Aftermath.assertSoundWith(
        ServerProcess.data(folder), written.stream().map(id -> "/good/" + id).toList());
  }
}
