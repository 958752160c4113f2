package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.database.ShardTopology.HashScheme;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.CountedReads;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One live reader for each changes shard: the cost of a commit does not grow with their number. */
final class ShardReadersTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final int WRITES = 40;

  /** Twice as often as idle shards are polled anyway. */
  private static final long LOOK_NANOS = 1_000_000_000;

  private record Cost(long reads, long looks) {}

  @Test
  void four_times_as_many_cost_at_most_twice_as_much() {
    Cost few = cost(16);
    Cost many = cost(64);

    assertThat(many.reads() - 64 * many.looks()).isLessThanOrEqualTo(2 * few.reads());
  }

  private static Cost cost(int shards) {
    CountedReads counted = new CountedReads(stores.fresh());
    TestSettings settings =
        new TestSettings().polls(new PollSettings(Duration.ofHours(1), Duration.ofHours(1)));
    List<Connection> readers = new ArrayList<>();
    try (LectusServer server = LectusServer.start(counted.store(), settings)) {
      server.put("/w?changes_shards=" + shards);
      for (int shard = 0; shard < shards; shard++) {
        Connection reader =
            server
                .request("GET", "/w/_changes/" + shard + "?feed=continuous&heartbeat=60000")
                .open();
        reader.readHead();
        readers.add(reader);
      }
      haveEachReadOne(server, readers);
      long start = System.nanoTime();
      long reads = counted.reads();
      for (int i = 0; i < WRITES; i++) {
        write(server, readers, "w" + i);
      }
      long looks = 1 + (System.nanoTime() - start) / LOOK_NANOS;
      return new Cost(counted.reads() - reads, looks);
    } finally {
      readers.forEach(Connection::close);
    }
  }

  /** After that all of them are live. */
  private static void haveEachReadOne(LectusServer server, List<Connection> readers) {
    boolean[] seen = new boolean[readers.size()];
    int left = readers.size();
    for (int i = 0; left > 0; i++) {
      int shard = HashScheme.JUMP_CRC32.shardOf("s" + i, readers.size());
      if (!seen[shard]) {
        seen[shard] = true;
        left--;
        write(server, readers, "s" + i);
      }
    }
  }

  private static void write(LectusServer server, List<Connection> readers, String id) {
    server.write("/w/" + id, "{}");
    Connection reader = readers.get(HashScheme.JUMP_CRC32.shardOf(id, readers.size()));
    assertThat(reader.chunkText()).contains("\"id\":\"" + id + "\"");
  }
}
