package lectus.bench;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import lectus.http.testing.LectusServer;
import lectus.store.SlowStore;
import lectus.store.Store;

/**
 * A server on a store whose commits take a while, for {@code load-tests/writers.sh URL}: how much
 * of the time writers wait for commits that the server could have made side by side.
 *
 * <pre>{@code java … lectus.bench.SlowCommits FOLDER [MILLISECONDS]}</pre>
 */
public final class SlowCommits {
  private static final String USUAL_MILLIS = "2";

  private SlowCommits() {}

  /** Prints the server's address, and serves until it is killed. */
  public static void main(String[] args) throws InterruptedException {
    String millis = args.length > 1 ? args[1] : USUAL_MILLIS;
    Store store = SlowStore.open(Path.of(args[0]), Duration.ofMillis(Long.parseLong(millis)));
    System.out.println(LectusServer.start(store).url());
    new CountDownLatch(1).await();
  }
}
