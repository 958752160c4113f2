package lectus.store.embedded;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/**
 * A watch and the value that its transaction saw.
 *
 * @param seen the value, or null if the key was missing
 */
record Watch(byte[] key, byte[] seen, CompletableFuture<Void> future) {
  boolean sees(byte[] value) {
    return Arrays.equals(seen, value);
  }
}
