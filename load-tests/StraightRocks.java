import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.Stream;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * Measures RocksDB alone with the same documents of 25 keys: synced groups of 1, 64 and 256
 * documents, unsynced groups, and the scan of one document. {@code java -cp target/lectus.jar
 * load-tests/StraightRocks.java FOLDER}
 */
public final class StraightRocks {
  private static final int KEYS_PER_DOCUMENT = 25;
  private static final long MEASURE_NANOS = 5_000_000_000L;

  private final RocksDB db;
  private int documents;

  private StraightRocks(RocksDB db) {
    this.db = db;
  }

  public static void main(String[] args) throws Exception {
    RocksDB.loadLibrary();
    Path folder = Files.createTempDirectory(Path.of(args[0]), "straight");
    try (Options options = new Options().setCreateIfMissing(true);
        RocksDB db = RocksDB.open(options, folder.toString())) {
      StraightRocks straight = new StraightRocks(db);
      for (int group : new int[] {1, 64, 256}) {
        System.out.printf("put-synced-%d %.0f%n", group, straight.writes(group, true));
      }
      System.out.printf("put-unsynced-64 %.0f%n", straight.writes(64, false));
      try (FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
        db.flush(flush);
      }
      db.compactRange();
      System.out.printf("get-compacted %.0f%n", straight.reads());
    } finally {
      delete(folder);
    }
  }

  private double writes(int group, boolean sync) throws RocksDBException {
    try (WriteOptions options = new WriteOptions().setSync(sync)) {
      long start = System.nanoTime();
      int before = documents;
      while (System.nanoTime() - start < MEASURE_NANOS) {
        try (WriteBatch batch = new WriteBatch()) {
          for (int i = 0; i < group; i++) {
            add(batch, documents++);
          }
          db.write(options, batch);
        }
      }
      return (documents - before) * 1e9 / (System.nanoTime() - start);
    }
  }

  private static void add(WriteBatch batch, int document) throws RocksDBException {
    byte[] value = new byte[12];
    for (int i = 0; i < KEYS_PER_DOCUMENT; i++) {
      batch.put(key(document, i), value);
    }
  }

  private double reads() {
    Random random = new Random(1);
    long start = System.nanoTime();
    long reads = 0;
    long bytes = 0;
    try (RocksIterator rows = db.newIterator()) {
      while (System.nanoTime() - start < MEASURE_NANOS) {
        rows.seek(key(random.nextInt(documents), 0));
        for (int i = 0; i < KEYS_PER_DOCUMENT && rows.isValid(); i++, rows.next()) {
          bytes += rows.key().length + rows.value().length;
        }
        reads++;
      }
    }
    if (bytes == 0) {
      throw new IllegalStateException("Nothing was read");
    }
    return reads * 1e9 / (System.nanoTime() - start);
  }

  private static byte[] key(int document, int leaf) {
    // Scattered like ids that clients create, and as long as a leaf's key.
    int scattered = Integer.reverse(document);
    return String.format("prefix-doc-%08x-leaf-rev-0123456789abcdef-field-%02d", scattered, leaf)
        .getBytes(StandardCharsets.UTF_8);
  }

  private static void delete(Path folder) throws Exception {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
