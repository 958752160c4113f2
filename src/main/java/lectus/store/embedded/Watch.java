package lectus.store.embedded;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * A watch and the value that its transaction saw.
 *
 * @param seen the value, or null if the key was missing
 * @param executor runs what depends on the future
 */
record Watch(byte[] key, byte[] seen, CompletableFuture<Void> future, Executor executor) {
  void fire() {
    Futures.on(executor, () -> future.complete(null));
  }

  boolean sees(byte[] value) {
    return Arrays.equals(seen, value);
  }
}
