package lectus.bench;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import lectus.http.testing.LectusServer;
import lectus.store.SlowStore;
import lectus.store.Store;

/**
 * Runs a server on a store with slow commits, for {@code load-tests/writers.sh URL}. It shows how
 * long writers wait for commits that the server could have made concurrently.
 *
 * <pre>{@code java … lectus.bench.SlowCommits FOLDER [MILLISECONDS]}</pre>
 */
public final class SlowCommits {
  private static final String USUAL_MILLIS = "2";

  private SlowCommits() {}

  /** Prints the server's address and serves until killed. */
  public static void main(String[] args) throws InterruptedException {
    String millis = args.length > 1 ? args[1] : USUAL_MILLIS;
    Store store = SlowStore.open(Path.of(args[0]), Duration.ofMillis(Long.parseLong(millis)));
    System.out.println(LectusServer.start(store).url());
    new CountDownLatch(1).await();
  }
}
