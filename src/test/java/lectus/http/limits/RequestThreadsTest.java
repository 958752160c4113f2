package lectus.http.limits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import lectus.http.limits.RequestThreads.Kind;
import lectus.store.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The threads, their survival of failures, and which requests wait for which. */
final class RequestThreadsTest {
  private static final int THREADS = 4;
  private static final int MANY = 20;

  private final RequestThreads.Pool pool = new RequestThreads.Pool("reader-", THREADS);
  private final RequestThreads threads = new RequestThreads(2);
  private final CountDownLatch gate = new CountDownLatch(1);
  private final AtomicInteger running = new AtomicInteger();
  private final List<String> done = new CopyOnWriteArrayList<>();

  @AfterEach
  void stop() {
    gate.countDown();
    pool.close();
    threads.close();
  }

  private void hold(Object client, Kind kind) {
    pool.of(client, kind).execute(this::hold);
  }

  private void hold() {
    running.incrementAndGet();
    await(gate);
  }

  private static void each(Consumer<String> client) {
    for (int i = 0; i < MANY; i++) {
      client.accept("client" + i);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void large_bodies_leave_half_of_the_threads_to_others() {
    for (int body = 0; body < THREADS; body++) {
      hold("large" + body, Kind.LARGE_BODY);
    }
    Await.until("large bodies have their share", () -> running.get() == THREADS / 2);
    pool.of("small", Kind.REQUEST).execute(() -> done.add("request"));

    Await.until("a small request is answered", () -> done.contains("request"));
    assertThat(running).hasValue(THREADS / 2);
  }

  @Test
  void feeds_leave_half_of_the_threads_to_requests() {
    for (int feed = 0; feed < THREADS; feed++) {
      hold("feed" + feed, Kind.FEED);
    }
    Await.until("feeds have their share", () -> running.get() == THREADS / 2);
    for (int i = 0; i < 10; i++) {
      pool.of("small", Kind.REQUEST).execute(() -> done.add("request"));
    }

    Await.until("requests are served", () -> done.size() == 10);
    assertThat(running).hasValue(THREADS / 2);
  }

  @Test
  void requests_may_have_all_threads() {
    for (int request = 0; request < THREADS; request++) {
      hold("one client", Kind.REQUEST);
    }
    Await.until("all threads are taken", () -> running.get() == THREADS);
  }

  @Test
  void whatever_work_throws_its_thread_and_its_place_remain() {
    for (int i = 0; i < 3 * THREADS; i++) {
      pool.of("a", Kind.FEED)
          .execute(
              () -> {
                throw new IllegalStateException("broken");
              });
      pool.of("b", Kind.REQUEST)
          .execute(
              () -> {
                throw new NoClassDefFoundError("broken");
              });
    }
    for (int i = 0; i < THREADS / 2; i++) {
      hold("feed" + i, Kind.LONG_FEED);
      hold("request" + i, Kind.REQUEST);
    }
    Await.until("all threads are there", () -> running.get() == THREADS);
  }

  @Test
  void what_waits_for_a_client_that_left_is_dropped_before_it_starts() {
    for (int i = 0; i < THREADS; i++) {
      hold("busy" + i, Kind.REQUEST);
    }
    Await.until("all threads are taken", () -> running.get() == THREADS);
    pool.of("a", Kind.REQUEST).execute(droppable("a"));
    pool.of("b", Kind.REQUEST).execute(droppable("b"));

    pool.left("a");
    assertThat(done).containsExactly("a dropped");
    gate.countDown();
    Await.until("the others are served", () -> done.size() == 2);
    assertThat(done).containsExactly("a dropped", "b done");
  }

  private NamedWork droppable(String name) {
    return new NamedWork(name, true, false, done);
  }

  @Test
  void a_pool_that_closes_does_what_waits_and_takes_nothing_more() {
    for (int i = 0; i < THREADS; i++) {
      hold("busy" + i, Kind.FEED);
      pool.of("waits", Kind.LONG_FEED).execute(() -> done.add("feed"));
      pool.ofTails().execute(() -> done.add("tail"));
    }
    Await.until("feeds have their share", () -> running.get() == THREADS / 2);
    pool.close();

    assertThatThrownBy(() -> pool.of("late", Kind.REQUEST).execute(() -> done.add("late")))
        .isInstanceOf(RejectedExecutionException.class);
    assertThatThrownBy(() -> pool.ofTails().execute(() -> done.add("late")))
        .isInstanceOf(RejectedExecutionException.class);
    gate.countDown();
    Await.until("what waited is done", () -> done.size() == 2 * THREADS);
    assertThat(done).doesNotContain("late");
  }

  @Test
  void nobody_who_reads_waits_for_those_who_change_databases() {
    each(client -> threads.ofChanges(client).execute(this::hold));
    Await.until("changes have all their threads", () -> running.get() == 4);
    threads.of("reader", Kind.REQUEST).execute(() -> done.add("done"));

    Await.until("it is done", () -> done.contains("done"));
    assertThat(running).hasValue(4);
  }

  @Test
  void nobody_who_changes_a_database_waits_for_those_who_read() {
    each(client -> threads.of(client, Kind.REQUEST).execute(this::hold));
    Await.until("readers have all their threads", () -> running.get() == 2);
    threads.ofChanges("changing").execute(() -> done.add("done"));

    Await.until("it is done", () -> done.contains("done"));
    assertThat(running).hasValue(2);
  }
}
