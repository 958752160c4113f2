package lectus.http.limits;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import lectus.http.limits.ReaderTurns.Kind;
import lectus.store.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which requests wait for which. */
@Timeout(60)
final class RequestThreadsTest {
  private static final int MANY = 20;

  private final RequestThreads threads = new RequestThreads(2);
  private final CountDownLatch gate = new CountDownLatch(1);
  private final AtomicInteger running = new AtomicInteger();
  private final CountDownLatch done = new CountDownLatch(1);

  @AfterEach
  void stop() {
    gate.countDown();
    threads.close();
  }

  private void hold() {
    running.incrementAndGet();
    wait(gate);
  }

  private static void wait(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void each(Consumer<String> client) {
    for (int i = 0; i < MANY; i++) {
      client.accept("client" + i);
    }
  }

  @Test
  void nobody_who_reads_waits_for_those_who_change_databases() {
    each(client -> threads.ofChanges(client).execute(this::hold));
    Await.until("changes have all their threads", () -> running.get() == 4);
    threads.of("reader", Kind.REQUEST).execute(done::countDown);

    wait(done);
    assertThat(running).hasValue(4);
  }

  @Test
  void nobody_who_changes_a_database_waits_for_those_who_read() {
    each(client -> threads.of(client, Kind.REQUEST).execute(this::hold));
    Await.until("readers have all their threads", () -> running.get() == 2);
    threads.ofChanges("changing").execute(done::countDown);

    wait(done);
    assertThat(running).hasValue(2);
  }
}
