package lectus.store;

import com.apple.foundationdb.ReadTransaction;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/**
 * The right of one server to a task, as a row: whoever takes the task over writes another value. A
 * transaction that reads the row with a conflict commits nothing for a server that has lost the
 * task, however long that server slept.
 */
public record Fence(byte[] key, byte[] value) {

  /** Reads, with a conflict, whether the task is still this server's. */
  public CompletableFuture<Boolean> holds(ReadTransaction tx) {
    return tx.get(key).thenApply(now -> Arrays.equals(now, value));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Fence fence
        && Arrays.equals(key, fence.key)
        && Arrays.equals(value, fence.value);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(key) + Arrays.hashCode(value);
  }
}
