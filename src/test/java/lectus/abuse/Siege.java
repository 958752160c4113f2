package lectus.abuse;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import lectus.abuse.Line.Target;
import lectus.http.testing.Connection;
import lectus.http.testing.Request;

/** Attacks that run side by side. */
final class Siege implements AutoCloseable {
  private final List<Thread> threads = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();

  private Siege() {}

  static Siege begin(List<Attack> attacks, Target target, long seed, Duration time) {
    Siege siege = new Siege();
    Deadline deadline = Deadline.in(time);
    Random seeds = new Random(seed);
    for (Attack attack : attacks) {
      Random dice = new Random(seeds.nextLong());
      Thread thread =
          new Thread(() -> siege.run(attack, target, dice, deadline), "attack-" + attack.title());
      thread.setDaemon(true);
      thread.start();
      siege.threads.add(thread);
    }
    return siege;
  }

  private void run(Attack attack, Target target, Random dice, Deadline deadline) {
    try {
      attack.run(target, dice, deadline);
    } catch (Throwable failure) {
      synchronized (failures) {
        failures.add(attack.title() + ": " + failure);
      }
    }
  }

  /** Waits for the end, and returns what kept an attack from going on. */
  List<String> end() {
    close();
    synchronized (failures) {
      return List.copyOf(failures);
    }
  }

  @Override
  public void close() {
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** The database that the attacks read: many documents, some with a long text. */
  static final class LargeDatabase {
    private static final int BATCHES = 20;
    private static final int DOCUMENTS = 500;
    private static final int TEXTS = 4;
    private static final int TEXT_BYTES = 1_000_000;

    private LargeDatabase() {}

    /** Creates it unless it exists. */
    static void create(int port) {
      try (Connection connection = new Connection(port)) {
        if (connection.write(new Request(port, "PUT", "/large").bytes()).read(false).status()
            == 412) {
          return;
        }
        for (int batch = 0; batch < BATCHES; batch++) {
          ask(connection, new Request(port, "POST", "/large/_bulk_docs").json(documents(batch)));
        }
        String text = "{\"text\":\"" + "a".repeat(TEXT_BYTES) + "\"}";
        for (int i = 0; i < TEXTS; i++) {
          ask(connection, new Request(port, "PUT", "/large/text" + i).json(text));
        }
      }
    }

    private static void ask(Connection connection, Request request) {
      int status = connection.write(request.bytes()).read(false).status();
      if (status != 201) {
        throw new IllegalStateException("No large database: " + status);
      }
    }

    private static String documents(int batch) {
      StringBuilder docs = new StringBuilder("{\"docs\":[");
      for (int i = 0; i < DOCUMENTS; i++) {
        int number = batch * DOCUMENTS + i;
        docs.append(i == 0 ? "" : ",")
            .append("{\"_id\":\"d")
            .append(number)
            .append("\",\"a\":")
            .append(number)
            .append(",\"text\":\"")
            .append("lorem ipsum ".repeat(80))
            .append("\"}");
      }
      return docs.append("]}").toString();
    }
  }

  /** The time at which an attack ends. */
  record Deadline(long nanoTime) {

    public static Deadline in(Duration time) {
      return new Deadline(System.nanoTime() + time.toNanos());
    }

    public boolean isOver() {
      return System.nanoTime() - nanoTime >= 0;
    }

    /** Pauses between two turns of an attack, which sets its pace. */
    void pause(int millis) {
      LockSupport.parkNanos(Duration.ofMillis(millis).toNanos());
    }
  }
}
