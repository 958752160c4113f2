package lectus.abuse;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

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
}
