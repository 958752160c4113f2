import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * Measures RocksDB alone on the files of a store that large.sh has loaded: scans of random
 * documents by two threads, and synced groups of 64 documents of 25 rows. {@code java -cp
 * target/lectus.jar load-tests/StraightLarge.java FOLDER DOCUMENTS SECONDS}
 */
public final class StraightLarge {
  private static final int THREADS = 2;
  private static final int GROUP = 64;
  private static final int ROWS = 25;

  /** As tuples: the subspace of edit branches, then the first id. */
  private static final byte[] FIRST_BRANCH = bytes("\u0015\u0002\u0002doc-");

  private final RocksDB db;
  private final int documents;
  private final long nanos;
  private final byte[] prefix;

  private StraightLarge(RocksDB db, int documents, long nanos) {
    this.db = db;
    this.documents = documents;
    this.nanos = nanos;
    this.prefix = prefix(db);
  }

  public static void main(String[] args) throws Exception {
    RocksDB.loadLibrary();
    BlockBasedTableConfig table =
        new BlockBasedTableConfig()
            .setBlockCache(new LRUCache(256L << 20))
            .setFilterPolicy(new BloomFilter(10));
    long start = System.nanoTime();
    try (Options options = new Options().setTableFormatConfig(table);
        RocksDB db = RocksDB.open(options, args[0])) {
      long opened = (System.nanoTime() - start) / 1_000_000;
      System.out.printf("| straight RocksDB, all files open: opened after | %d ms |%n", opened);
      StraightLarge straight =
          new StraightLarge(
              db, Integer.parseInt(args[1]), Integer.parseInt(args[2]) * 1_000_000_000L);
      System.out.printf(
          "| straight RocksDB, scans of random documents, %d threads | %.0f a second |%n",
          THREADS, straight.reads());
      System.out.printf(
          "| straight RocksDB, synced groups of %d documents | %.0f a second |%n",
          GROUP, straight.writes());
    }
  }

  private static byte[] prefix(RocksDB db) {
    try (RocksIterator rows = db.newIterator()) {
      for (rows.seekToFirst(); rows.isValid(); rows.next()) {
        byte[] key = rows.key();
        for (int at = 0; at + FIRST_BRANCH.length <= key.length; at++) {
          if (Arrays.equals(key, at, at + FIRST_BRANCH.length, FIRST_BRANCH, 0, FIRST_BRANCH.length)) {
            return Arrays.copyOf(key, at);
          }
        }
      }
    }
    throw new IllegalStateException("This is no store of large.sh");
  }

  private double reads() throws InterruptedException {
    LongAdder read = new LongAdder();
    Thread[] threads = new Thread[THREADS];
    long start = System.nanoTime();
    for (int i = 0; i < THREADS; i++) {
      threads[i] = new Thread(() -> read(start, read));
      threads[i].start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    return read.sum() * 1e9 / (System.nanoTime() - start);
  }

  private void read(long start, LongAdder read) {
    while (System.nanoTime() - start < nanos) {
      int number = ThreadLocalRandom.current().nextInt(documents);
      // The subspace of documents: one row of metadata and those of the body, up to the next id.
      byte[] id = bytes(String.format("\u0015\u0003\u0002doc-%08d", number));
      byte[] begin = Arrays.copyOf(prefix, prefix.length + id.length + 1);
      System.arraycopy(id, 0, begin, prefix.length, id.length);
      byte[] end = begin.clone();
      end[end.length - 1] = 1;
      int rows = 0;
      try (Slice upper = new Slice(end);
          ReadOptions options = new ReadOptions().setIterateUpperBound(upper);
          RocksIterator iterator = db.newIterator(options)) {
        for (iterator.seek(begin); iterator.isValid(); iterator.next()) {
          rows += iterator.key().length > 0 && iterator.value().length >= 0 ? 1 : 0;
        }
      }
      if (rows < ROWS) {
        throw new IllegalStateException("Document " + number + " has " + rows + " rows");
      }
      read.increment();
    }
  }

  private double writes() throws RocksDBException {
    byte[] value = new byte[12];
    Random random = new Random(1);
    long start = System.nanoTime();
    long written = 0;
    try (WriteOptions options = new WriteOptions().setSync(true)) {
      while (System.nanoTime() - start < nanos) {
        try (WriteBatch batch = new WriteBatch()) {
          for (int i = 0; i < GROUP; i++) {
            String head = String.format("\u0016straight-%016x-rev-0123456789abcdef-", random.nextLong());
            for (int row = 0; row < ROWS; row++) {
              batch.put(bytes(head + row), value);
            }
          }
          db.write(options, batch);
        }
        written += GROUP;
      }
    }
    return written * 1e9 / (System.nanoTime() - start);
  }

  private static byte[] bytes(String latin1) {
    return latin1.getBytes(StandardCharsets.ISO_8859_1);
  }
}
