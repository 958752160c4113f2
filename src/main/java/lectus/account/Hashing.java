package lectus.account;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Supplier;
import lectus.error.LectusException;
import lectus.metrics.DaemonThreads;

/**
 * Computes hashes of passwords, which take a good part of a second each, on threads of its own.
 * Names that have logged in from their address before have a thread to themselves, so that whoever
 * tries out passwords does not keep them waiting; among the others each address has a line of its
 * own. So has each who brings many passwords at once, on further threads; what nobody waits for
 * comes last there. Thread-safe.
 */
final class Hashing implements AutoCloseable {
  /** More would wait longer than clients do. */
  static final int MAX_WAITING = 100;

  private static final int IDLE_SECONDS = 10;

  /** Of names that have not logged in from their address before. */
  static final int AT_ONCE = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);

  /** Imports take long, and must leave processors to those who log in. */
  static final int IMPORTS_AT_ONCE = Math.max(1, Runtime.getRuntime().availableProcessors() / 4);

  private final Counter ofStrangers = new Counter("lectus-hashing", AT_ONCE);
  private final Counter ofGuests = new Counter("lectus-hashing-known", 1);
  private final Counter ofImports = new Counter("lectus-hashing-import", IMPORTS_AT_ONCE);
  private volatile boolean isClosed;

  /** Who waits for a hash. */
  enum Turn {
    /** A name that has logged in from its address before. */
    GUEST,
    STRANGER,
    /** One of many passwords that a request brings. */
    IMPORT,
    /** Nobody: it comes after all imports, and is refused first. */
    LAST
  }

  /**
   * @param client whose line it waits in
   * @return fails with Unavailable (503) if too many wait
   */
  <T> CompletableFuture<T> begin(Turn turn, String client, Supplier<T> work) {
    Waiting<T> waiting = new Waiting<>(work, new CompletableFuture<>());
    switch (turn) {
      case GUEST -> ofGuests.take(ofGuests.lines, client, waiting);
      case STRANGER -> ofStrangers.take(ofStrangers.lines, client, waiting);
      case IMPORT -> ofImports.take(ofImports.lines, client, waiting);
      case LAST -> ofImports.take(ofImports.last, client, waiting);
    }
    return waiting.result();
  }

  private record Waiting<T>(Supplier<T> work, CompletableFuture<T> result) {
    void run() {
      try {
        result.complete(work.get());
      } catch (Throwable failure) {
        result.completeExceptionally(failure);
      }
    }
  }

  /** Threads, and who waits for them. */
  private final class Counter {
    private final FairQueues<Waiting<?>> lines = new FairQueues<>(MAX_WAITING);
    private final FairQueues<Waiting<?>> last = new FairQueues<>(MAX_WAITING);
    private final ThreadPoolExecutor threads;

    Counter(String name, int number) {
      this.threads = DaemonThreads.pool(number, IDLE_SECONDS, DaemonThreads.numbered(name + "-"));
    }

    /** Each log-in that waits adds a task to the pool; a task takes whichever is next. */
    private void take(FairQueues<Waiting<?>> which, String client, Waiting<?> newcomer) {
      Optional<Waiting<?>> turnedAway = which.add(client, newcomer);
      turnedAway.ifPresent(
          it ->
              it.result()
                  .completeExceptionally(LectusException.unavailable("Too many log in at once.")));
      if (turnedAway.isEmpty()) {
        try {
          threads.execute(this::serve);
        } catch (RejectedExecutionException closed) {
          newcomer.result().completeExceptionally(stopping());
        }
      }
    }

    private void serve() {
      Waiting<?> next = lines.next().or(last::next).orElseThrow();
      if (isClosed) {
        next.result().completeExceptionally(stopping());
      } else {
        next.run();
      }
    }
  }

  static LectusException stopping() {
    return LectusException.unavailable("The server is stopping.");
  }

  /** Whoever waits still gets an answer. */
  @Override
  public void close() {
    isClosed = true;
    ofStrangers.threads.shutdown();
    ofGuests.threads.shutdown();
    ofImports.threads.shutdown();
  }

  /**
   * What waits, in a line for each client. The lines take turns, and if all of them together are
   * full the last of the longest one has to go; so one client that sends a flood keeps only himself
   * waiting. Thread-safe.
   */
  static final class FairQueues<T> {
    private final int most;

    /** None is empty; the one whose turn is next comes first. */
    private final Map<String, Deque<T>> lines = new LinkedHashMap<>();

    private int waiting;

    FairQueues(int most) {
      this.most = most;
    }

    /**
     * @return what is turned away for it, maybe itself; empty if there was room
     */
    synchronized Optional<T> add(String client, T newcomer) {
      lines.computeIfAbsent(client, first -> new ArrayDeque<>()).addLast(newcomer);
      if (waiting < most) {
        waiting++;
        return Optional.empty();
      }
      return Optional.of(removeLast(longest(client)));
    }

    /** Of lines that are equally long, the newcomer's. */
    private String longest(String newcomers) {
      String longest = newcomers;
      for (Map.Entry<String, Deque<T>> line : lines.entrySet()) {
        if (line.getValue().size() > lines.get(longest).size()) {
          longest = line.getKey();
        }
      }
      return longest;
    }

    private T removeLast(String client) {
      Deque<T> line = lines.get(client);
      T last = line.removeLast();
      if (line.isEmpty()) {
        lines.remove(client);
      }
      return last;
    }

    /** Returns whose turn it is, who waits no longer. */
    synchronized Optional<T> next() {
      Optional<String> client = lines.keySet().stream().findFirst();
      if (client.isEmpty()) {
        return Optional.empty();
      }
      Deque<T> line = lines.remove(client.get());
      T next = line.removeFirst();
      if (!line.isEmpty()) {
        lines.put(client.get(), line);
      }
      waiting--;
      return Optional.of(next);
    }
  }
}
