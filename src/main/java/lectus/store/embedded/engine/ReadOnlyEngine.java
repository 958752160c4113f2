package lectus.store.embedded.engine;

import com.apple.foundationdb.FDBException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import lectus.error.FoundationDbError;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.OpenStore.StoppedStore;
import lectus.store.embedded.engine.SnapshotRegistry.Published;
import lectus.store.embedded.engine.folder.DataFolder;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WALRecoveryMode;

/**
 * A stopped store, opened for reading: nothing in its folder changes, not even a log that a crash
 * has torn. It never changes, so one state serves every read, however long it takes.
 */
public final class ReadOnlyEngine implements Engine {
  private final DataFolder folder;
  private final RocksSettings settings;
  private final RocksDB db;
  private final SnapshotRegistry snapshots;

  private ReadOnlyEngine(DataFolder folder, RocksSettings settings, RocksDB db, long version)
      throws RocksDBException {
    this.folder = folder;
    this.settings = settings;
    this.db = db;
    StoreState state = new StoreState(db, version, db.get(SystemKeys.METADATA_VERSION));
    this.snapshots =
        new SnapshotRegistry(new StoreReader(db, new PointCache(0)), new Published(version, state));
  }

  /**
   * Opens the store in {@code directory} for reading.
   *
   * @throws lectus.error.StoreOpenException if there is no store, it is damaged or cannot be read,
   *     or a process has it open
   */
  public static ReadOnlyEngine open(Path directory, EngineOptions options) {
    DataFolder folder = DataFolder.look(directory);
    try {
      return open(folder, RocksSettings.forReading(options));
    } catch (RuntimeException | Error failure) {
      folder.close();
      throw failure;
    }
  }

  private static ReadOnlyEngine open(DataFolder folder, RocksSettings settings) {
    settings.options().setWalRecoveryMode(WALRecoveryMode.PointInTimeRecovery);
    try {
      return openOwned(folder, settings);
    } catch (RocksDBException failure) {
      settings.close();
      throw StoppedStore.refused(folder, failure);
    } catch (RuntimeException | Error failure) {
      settings.close();
      throw failure;
    }
  }

  private static ReadOnlyEngine openOwned(DataFolder folder, RocksSettings settings)
      throws RocksDBException {
    StoppedStore stopped = StoppedStore.in(folder);
    RocksDB db = RocksDB.openReadOnly(settings.options(), folder.rocks().toString());
    try {
      return new ReadOnlyEngine(folder, settings, db, stopped.requireComplete(db));
    } catch (RocksDBException | RuntimeException | Error failure) {
      db.close();
      throw failure;
    }
  }

  @Override
  public long readVersion() {
    return snapshots.published().version();
  }

  @Override
  public StoreSnapshot snapshot(long version) {
    return snapshots.at(version);
  }

  @Override
  public StoreSnapshot latest() {
    return snapshots.latest();
  }

  /** Always fails with 2000. */
  @Override
  public CompletableFuture<CommitReceipt> commit(CommitRequest request) {
    return CompletableFuture.failedFuture(
        new FDBException(
            "The store is open for reading only",
            FoundationDbError.CLIENT_INVALID_OPERATION.code()));
  }

  /** Always fails with 2000: a stopped store's folder can be copied as it is. */
  @Override
  public Path checkpoint() {
    throw FoundationDbError.CLIENT_INVALID_OPERATION.exception();
  }

  /** Does nothing, because nothing is ever published. */
  @Override
  public void onPublish(LongConsumer listener) {}

  /** Returns 0, because no reader of a stopped store needs an estimate. */
  @Override
  public long estimatedSize(byte[] begin, byte[] end) {
    return 0;
  }

  /** Requires that no read is under way. */
  @Override
  public void close() {
    snapshots.endAll(UseCount.CLOSED, StoreReader::closed);
    snapshots.letGo();
    snapshots.reader().close();
    db.close();
    settings.close();
    folder.close();
  }
}
