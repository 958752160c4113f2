package lectus.store.embedded.engine;

import lectus.error.StoreOpenException;
import lectus.store.embedded.engine.commit.SystemKeys;
import lectus.store.embedded.engine.commit.VersionLease;
import lectus.store.embedded.engine.folder.BackgroundErrors;
import lectus.store.embedded.engine.folder.DataFolder;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Statistics;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteOptions;

/** An open data folder: its lock, its RocksDB, and the state that the last run left. */
final class OpenStore implements AutoCloseable {
  /**
   * The first version of a new store. It leaves room below for versions some seconds older, which
   * stay positive.
   */
  private static final long FIRST_VERSION = 100_000_000;

  private final DataFolder folder;
  private final RocksSettings settings;
  private final RocksDB db;
  private final VersionLease lease;
  private final long firstVersion;
  private final byte[] metadataVersion;

  private OpenStore(
      DataFolder folder, RocksSettings settings, RocksDB db, long ceiling, EngineOptions options)
      throws RocksDBException {
    this.folder = folder;
    this.settings = settings;
    this.db = db;
    this.lease = new VersionLease(options.microClock(), ceiling);
    this.firstVersion = lease.next();
    this.metadataVersion = db.get(SystemKeys.METADATA_VERSION);
  }

  /**
   * @param folder taken; released if the store cannot be opened
   */
  static OpenStore open(DataFolder folder, EngineOptions options) {
    try {
      return open(folder, new RocksSettings(options), options);
    } catch (RuntimeException | Error failure) {
      folder.close();
      throw failure;
    }
  }

  private static OpenStore open(DataFolder folder, RocksSettings settings, EngineOptions options) {
    try {
      return openOwned(folder, settings, options);
    } catch (RocksDBException failure) {
      settings.close();
      throw new StoreOpenException(
          "The store in " + folder.folder() + " cannot be opened: " + failure.getMessage() + ".",
          failure);
    } catch (RuntimeException | Error failure) {
      settings.close();
      throw failure;
    }
  }

  private static OpenStore openOwned(
      DataFolder folder, RocksSettings settings, EngineOptions options) throws RocksDBException {
    long ceiling = FIRST_VERSION;
    if (folder.isNew()) {
      folder.beginCreation();
    } else {
      StoppedStore stopped = StoppedStore.in(folder);
      ceiling = requireComplete(stopped, folder, options);
      stopped.cutTornRecord();
    }
    settings.options().setWalRecoveryMode(WALRecoveryMode.AbsoluteConsistency);
    settings.options().setCreateIfMissing(folder.isNew());
    RocksDB db = RocksDB.open(settings.options(), folder.rocks().toString());
    try {
      OpenStore store = new OpenStore(folder, settings, db, ceiling, options);
      store.makeLeaseDurable();
      if (folder.isNew()) {
        folder.finishCreation();
      }
      return store;
    } catch (RocksDBException | RuntimeException | Error failure) {
      db.close();
      throw failure;
    }
  }

  /** RocksDB writes while it opens, so the check that the store can be opened comes first. */
  private static long requireComplete(
      StoppedStore stopped, DataFolder folder, EngineOptions options) {
    try (RocksSettings reading = RocksSettings.forReading(options)) {
      reading.options().setWalRecoveryMode(WALRecoveryMode.PointInTimeRecovery);
      try (RocksDB db = RocksDB.openReadOnly(reading.options(), folder.rocks().toString())) {
        return stopped.requireComplete(db);
      }
    } catch (RocksDBException failure) {
      throw StoppedStore.refused(folder, failure);
    }
  }

  private void makeLeaseDurable() throws RocksDBException {
    long ceiling = lease.proposedCeiling();
    if (db.get(SystemKeys.FIRST_SHARD) == null) {
      db.put(SystemKeys.FIRST_SHARD, new byte[0]);
    }
    try (WriteOptions synced = new WriteOptions().setSync(true)) {
      db.put(synced, SystemKeys.VERSION_CEILING, SystemKeys.encodeVersion(ceiling));
    }
    lease.extendTo(ceiling);
  }

  RocksDB db() {
    return db;
  }

  BackgroundErrors backgroundErrors() {
    return settings.backgroundErrors();
  }

  Statistics statistics() {
    return settings.statistics();
  }

  WriteOptions writeOptions() {
    return settings.writeOptions();
  }

  DataFolder folder() {
    return folder;
  }

  /** Returns the first version of this run, above all of earlier runs. */
  long firstVersion() {
    return firstVersion;
  }

  VersionLease lease() {
    return lease;
  }

  /** Returns the stored value of FF/metadataVersion, or null. */
  byte[] metadataVersion() {
    return metadataVersion;
  }

  @Override
  public void close() {
    db.close();
    settings.close();
    folder.close();
  }
}
