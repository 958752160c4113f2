package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.store.HeldReads;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The delivery lag among the figures is what a client measures of the same rows. */
final class DeliveryLagTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final int ROWS = 20;
  private static final long HELD_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final HeldReads reads = new HeldReads(stores.fresh());
  private final LectusServer server = LectusServer.start(reads.store());

  @AfterEach
  void stop() {
    reads.release();
    server.close();
  }

  private double figure(String suffix) {
    String start = "lectus_feed_delivery_lag_seconds" + suffix + " ";
    return server
        .get("/_node/_local/_prometheus")
        .body()
        .lines()
        .filter(line -> line.startsWith(start))
        .mapToDouble(line -> Double.parseDouble(line.substring(start.length())))
        .sum();
  }

  /** Readers are held up, so that the rows come late by a time that both sides can see. */
  @Test
  void it_is_what_a_client_measures() {
    server.put("/w");
    try (Connection feed =
        server.request("GET", "/w/_changes?feed=continuous&since=now&heartbeat=60000").open()) {
      feed.readHead();
      server.write("/w/first", "{}");
      assertThat(feed.chunkText()).contains("first");
      double count = figure("_count");
      double sum = figure("_sum");

      reads.hold();
      List<Long> sent = new ArrayList<>();
      List<Long> answered = new ArrayList<>();
      for (int i = 0; i < ROWS; i++) {
        sent.add(System.nanoTime());
        server.write("/w/d" + i, "{}");
        answered.add(System.nanoTime());
      }
      while (System.nanoTime() - answered.get(ROWS - 1) < HELD_NANOS) {
        LockSupport.parkNanos(HELD_NANOS / 10);
      }
      double least = seconds(answered, Collections.nCopies(ROWS, System.nanoTime()));
      reads.release();
      double most = seconds(sent, arrivals(feed));

      assertThat(figure("_count") - count).isEqualTo(ROWS);
      assertThat(figure("_sum") - sum).isBetween(0.9 * least, 1.1 * most);
    }
  }

  /** Returns all the time between beginnings and ends. */
  private static double seconds(List<Long> beginnings, List<Long> ends) {
    return IntStream.range(0, ROWS).mapToLong(i -> ends.get(i) - beginnings.get(i)).sum() / 1e9;
  }

  private static List<Long> arrivals(Connection feed) {
    List<Long> arrivals = new ArrayList<>();
    while (arrivals.size() < ROWS) {
      String rows = feed.chunkText();
      long now = System.nanoTime();
      rows.lines().filter(line -> line.contains("\"id\":\"d")).forEach(line -> arrivals.add(now));
    }
    return arrivals;
  }
}
