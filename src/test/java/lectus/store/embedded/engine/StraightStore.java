package lectus.store.embedded.engine;

import java.nio.file.Path;
import java.util.List;
import lectus.store.embedded.engine.GroupWrites.WriteBatchBytes;
import org.rocksdb.FlushOptions;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.WriteBatch;

/** RocksDB with the engine's settings but without the engine: the benchmarks' baseline. */
public final class StraightStore implements AutoCloseable {
  private final RocksSettings settings;
  private final RocksDB db;

  /** Creates a store in an empty folder. */
  public StraightStore(Path folder) {
    this(folder, EngineOptions.defaults());
  }

  /** Like {@link #StraightStore(Path)}, with options. */
  public StraightStore(Path folder, EngineOptions options) {
    settings = new RocksSettings(options);
    settings.options().setCreateIfMissing(true);
    try {
      db = RocksDB.open(settings.options(), folder.toString());
    } catch (RocksDBException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** Writes rows in one synced batch. */
  public void write(List<byte[]> keys, byte[] value) {
    WriteBatchBytes bytes = new WriteBatchBytes(keys.size() * 100);
    for (byte[] key : keys) {
      bytes.put(key, value);
    }
    try (WriteBatch batch = new WriteBatch(bytes.toByteArray())) {
      db.write(settings.writeOptions(), batch);
    } catch (RocksDBException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** The changes of one synced batch. Its reads see what was stored before. */
  public final class Changes {
    private final WriteBatchBytes bytes = new WriteBatchBytes(1 << 20);

    public void put(byte[] key, byte[] value) {
      bytes.put(key, value);
    }

    /** Deletes each row of a range. */
    public void clear(byte[] begin, byte[] end) {
      try (Slice upper = new Slice(end);
          ReadOptions options = new ReadOptions().setIterateUpperBound(upper);
          RocksIterator iterator = db.newIterator(options)) {
        for (iterator.seek(begin); iterator.isValid(); iterator.next()) {
          bytes.delete(iterator.key());
        }
      }
    }

    /** Makes the changes durable. */
    public void write() {
      try (WriteBatch batch = new WriteBatch(bytes.toByteArray())) {
        db.write(settings.writeOptions(), batch);
      } catch (RocksDBException failure) {
        throw new IllegalStateException(failure);
      }
    }
  }

  public Changes changes() {
    return new Changes();
  }

  /** Returns the value of a key, or null. */
  public byte[] get(byte[] key) {
    try {
      return db.get(key);
    } catch (RocksDBException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** Copies every row of a range into the heap. Returns the number of bytes. */
  public long scan(byte[] begin, byte[] end) {
    long bytes = 0;
    try (Slice upper = new Slice(end);
        ReadOptions options = new ReadOptions().setIterateUpperBound(upper);
        RocksIterator iterator = db.newIterator(options)) {
      for (iterator.seek(begin); iterator.isValid(); iterator.next()) {
        bytes += iterator.key().length + iterator.value().length;
      }
    }
    return bytes;
  }

  /** Compacts everything into the last level. */
  public void compact() {
    try (FlushOptions flush = new FlushOptions()) {
      db.flush(flush);
      db.compactRange();
    } catch (RocksDBException failure) {
      throw new IllegalStateException(failure);
    }
  }

  @Override
  public void close() {
    db.close();
    settings.close();
  }
}
