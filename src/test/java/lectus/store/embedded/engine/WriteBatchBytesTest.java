package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import lectus.store.embedded.engine.GroupWrites.WriteBatchBytes;
import org.junit.jupiter.api.Test;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

class WriteBatchBytesTest {
  private static final int[] LENGTHS = {0, 1, 127, 128, 16_383, 16_384, 100_000};

  static {
    RocksDB.loadLibrary();
  }

  @Test
  void bytes_are_those_that_rocks_db_writes() throws RocksDBException {
    Random random = new Random(42);
    WriteBatchBytes ours = new WriteBatchBytes(0);
    try (WriteBatch theirs = new WriteBatch()) {
      for (int i = 0; i < 500; i++) {
        byte[] first = bytes(random);
        byte[] second = bytes(random);
        switch (random.nextInt(3)) {
          case 0 -> {
            ours.put(first, second);
            theirs.put(first, second);
          }
          case 1 -> {
            ours.delete(first);
            theirs.delete(first);
          }
          default -> {
            ours.deleteRange(first, second);
            theirs.deleteRange(first, second);
          }
        }
      }
      assertThat(ours.toByteArray()).isEqualTo(theirs.data());
    }
  }

  @Test
  void empty_batch_is_a_header() throws RocksDBException {
    WriteBatchBytes ours = new WriteBatchBytes(0);
    try (WriteBatch theirs = new WriteBatch()) {
      assertThat(ours.isEmpty()).isTrue();
      assertThat(ours.toByteArray()).isEqualTo(theirs.data());
    }
  }

  private static byte[] bytes(Random random) {
    byte[] bytes = new byte[LENGTHS[random.nextInt(LENGTHS.length)]];
    random.nextBytes(bytes);
    return bytes;
  }
}
