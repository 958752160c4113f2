package lectus.store.embedded.engine;

import java.lang.reflect.Field;
import lectus.store.Store;
import lectus.store.embedded.EmbeddedDatabase;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** RocksDB that neither flushes nor compacts, as if the disk were far too slow for that. */
public final class StoppedFlushes implements AutoCloseable {
  private final RocksDB db;

  private StoppedFlushes(RocksDB db) throws RocksDBException {
    this.db = db;
    db.pauseBackgroundWork();
  }

  /** Stops those of an embedded store. */
  public static StoppedFlushes of(Store store) throws Exception {
    Engine engine = ((EmbeddedDatabase) store.database()).engine();
    OpenStore open = (OpenStore) field(field(engine, "run"), "store");
    return new StoppedFlushes(open.db);
  }

  private static Object field(Object owner, String name) throws ReflectiveOperationException {
    Field field = owner.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(owner);
  }

  @Override
  public void close() throws RocksDBException {
    db.continueBackgroundWork();
  }
}
