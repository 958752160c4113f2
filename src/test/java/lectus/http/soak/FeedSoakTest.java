package lectus.http.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Clients of live feeds in all forms come and go, read slowly or not at all, and resume where they
 * were. Meanwhile documents are written, changes resharded, and databases deleted and created
 * again. What each connection saw is compared with the store: in order, nothing left out, nothing
 * twice.
 *
 * <p>Longer: {@code -Dlectus.soak.seconds=300}; the same again: {@code -Dlectus.soak.seed=…}.
 */
final class FeedSoakTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final long SECONDS = Long.getLong("lectus.soak.seconds", 4);
  private static final long SEED = Long.getLong("lectus.soak.seed", System.nanoTime());
  private static final int LISTENERS = 16;
  private static final int WRITERS = 2;
  private static final int DOCUMENTS = 60;
  private static final int SMALL_BUFFER = 4_096;

  private final LectusServer server = LectusServer.start(stores.fresh());
  private final List<Lives> databases =
      List.of(new Lives(server, "a"), new Lives(server, "b"), new Lives(server, "mortal"));
  private final ConcurrentHashMap<String, String> revisions = new ConcurrentHashMap<>();
  private final CountDownLatch writersDone = new CountDownLatch(WRITERS + 1);
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicInteger rowsSeen = new AtomicInteger();
  private final List<Runnable> checks = new ArrayList<>();
  private final long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);

  private boolean isTime() {
    return System.nanoTime() - end < 0;
  }

  @Test
  void each_connection_sees_everything_once_in_order() throws Exception {
    Random seeds = new Random(SEED);
    ExecutorService threads = Executors.newCachedThreadPool();
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      Random random = new Random(seeds.nextLong());
      int number = i;
      running.add(threads.submit(() -> write(random, number)));
    }
    Random deaths = new Random(seeds.nextLong());
    running.add(threads.submit(() -> disturb(deaths)));
    for (int i = 0; i < LISTENERS; i++) {
      Random random = new Random(seeds.nextLong());
      running.add(threads.submit(() -> listen(random)));
    }
    try {
      for (Future<?> thread : running) {
        thread.get(SECONDS + 60, TimeUnit.SECONDS);
      }
      databases.forEach(Lives::end);
      checks.forEach(Runnable::run);
    } catch (ExecutionException | AssertionError e) {
      throw new AssertionError("seed " + SEED, e);
    } finally {
      threads.shutdownNow();
      server.close();
    }
    assertThat(connections.get()).isGreaterThan(LISTENERS);
    assertThat(rowsSeen.get()).isPositive();
  }

  private void write(Random random, int number) {
    try {
      while (isTime()) {
        Lives database = databases.get(random.nextInt(databases.size()));
        // Each writer has documents of its own, so that it knows their revisions.
        String id = "w" + number + "-" + random.nextInt(DOCUMENTS);
        database.whileAlive(() -> writeOne(random, database.name(), id));
        if (random.nextInt(10) == 0) {
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(20)));
        }
      }
    } finally {
      writersDone.countDown();
    }
  }

  private void writeOne(Random random, String database, String id) {
    String target = "/" + database + "/" + id;
    String rev = revisions.get(target);
    String query = rev == null ? "" : "?rev=" + rev;
    int length = random.nextInt(20) == 0 ? 30_000 : random.nextInt(200);
    Answer answer =
        rev != null && random.nextInt(8) == 0
            ? server.delete(target + query)
            : server.put(target + query, "{\"v\":\"" + "x".repeat(length) + "\"}");
    if (answer.status() == 201) {
      revisions.put(target, answer.member("rev"));
    } else if (answer.status() == 200) {
      revisions.remove(target);
    } else {
      throw new AssertionError(answer);
    }
  }

  private void disturb(Random random) {
    try {
      while (isTime()) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100 + random.nextInt(300)));
        databases.get(random.nextInt(databases.size())).reshard(1 + random.nextInt(5));
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100 + random.nextInt(300)));
        databases
            .get(2)
            .startAnother(
                () -> revisions.keySet().removeIf(target -> target.startsWith("/mortal/")));
      }
    } finally {
      writersDone.countDown();
    }
  }

  /** Runs one client after the other; the last one stays until it has seen everything. */
  private void listen(Random random) {
    String since = "0";
    Lives database = databases.get(random.nextInt(databases.size()));
    boolean last = false;
    while (!last) {
      last = !isTime();
      if (random.nextInt(4) == 0) {
        database = databases.get(random.nextInt(databases.size()));
        since = "0";
      }
      try {
        since = listenOnce(random, database, since, last);
      } catch (AnswerClient.NotThere e) {
        last = false;
      }
    }
  }

  private String listenOnce(Random random, Lives database, String since, boolean last) {
    int form = random.nextInt(5);
    boolean slow = !last && random.nextInt(3) == 0;
    long rows = last ? Long.MAX_VALUE : random.nextInt(400);
    String connection = "form " + form + " of " + database.name() + " since " + since;
    List<SeenRow> seen = new ArrayList<>();
    String upTo = since;
    Optional<String> ended = Optional.empty();
    connections.incrementAndGet();
    try (FeedClient client = open(random, form, database.name(), since, slow)) {
      while (ended.isEmpty() && seen.size() < rows && !(last && hasAll(database, upTo))) {
        if (slow) {
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(30)));
        }
        FeedClient.Event event = client.next();
        seen.addAll(event.rows());
        ended = event.end();
        upTo = seen.isEmpty() ? since : seen.get(seen.size() - 1).seq();
        if (!last && event.rows().isEmpty() && hasWaitedEnough(random)) {
          break;
        }
      }
    }
    String reached = ended.orElse(upTo);
    rowsSeen.addAndGet(seen.size());
    later(() -> database.check(seen, since, reached, connection));
    return last && !hasAll(database, reached)
        ? listenOnce(random, database, reached, true)
        : reached;
  }

  /** Called at each heartbeat, one a second. */
  private boolean hasWaitedEnough(Random random) {
    return !isTime() || random.nextInt(3) == 0;
  }

  private void later(Runnable check) {
    synchronized (checks) {
      checks.add(check);
    }
  }

  /** After all writes: whether a client that has come so far has seen everything. */
  private boolean hasAll(Lives database, String upTo) {
    return writersDone.getCount() == 0 && upTo.compareTo(database.lastChange()) >= 0;
  }

  private FeedClient open(Random random, int form, String database, String since, boolean slow) {
    Connection connection = new Connection(server.port(), slow ? SMALL_BUFFER : 0);
    boolean documents = random.nextInt(3) == 0;
    String options = documents ? "&include_docs=true" : "";
    return switch (form) {
      case 0 -> new AnswerClient(connection, database, "feed=longpoll" + options, since);
      case 1 -> new AnswerClient(connection, database, "feed=continuous" + options, since);
      case 2 -> new AnswerClient(connection, database, "feed=eventsource" + options, since);
      case 3 -> SocketFeedClient.ofDatabase(connection, database, options, since);
      default -> SocketFeedClient.subscription(connection, database, documents, since);
    };
  }
}
