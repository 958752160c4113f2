package lectus.store.embedded.engine;

import java.io.IOException;
import java.nio.file.Path;
import lectus.error.StoreOpenException;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteOptions;

/** An open folder: its lock, RocksDB in it, and what the last run left there. */
final class OpenStore implements AutoCloseable {
  /** Where a new store begins, so that a version some seconds older than the first is positive. */
  private static final long FIRST_VERSION = 100_000_000;

  private final DataFolder folder;
  private final RocksSettings settings;
  private final RocksDB db;
  private final VersionLease lease;
  private final long firstVersion;
  private final byte[] metadataVersion;

  private OpenStore(DataFolder folder, RocksSettings settings, RocksDB db, EngineOptions options)
      throws RocksDBException {
    this.folder = folder;
    this.settings = settings;
    this.db = db;
    byte[] ceiling = db.get(SystemKeys.VERSION_CEILING);
    if (ceiling == null && !folder.isNew()) {
      throw new StoreOpenException(
          "The store in " + folder.folder() + " is damaged: its version ceiling is missing.");
    }
    this.lease =
        new VersionLease(
            options.microClock(),
            ceiling == null ? FIRST_VERSION : SystemKeys.decodeVersion(ceiling));
    this.firstVersion = lease.next();
    this.metadataVersion = db.get(SystemKeys.METADATA_VERSION);
  }

  static OpenStore open(Path directory, EngineOptions options) {
    DataFolder folder = DataFolder.take(directory);
    RocksSettings settings = new RocksSettings(options);
    try {
      return open(folder, settings, options);
    } catch (RocksDBException failure) {
      settings.close();
      folder.close();
      throw new StoreOpenException(
          "The store in " + directory + " cannot be opened: " + failure.getMessage() + ".",
          failure);
    } catch (RuntimeException | Error failure) {
      settings.close();
      folder.close();
      throw failure;
    }
  }

  private static OpenStore open(DataFolder folder, RocksSettings settings, EngineOptions options)
      throws RocksDBException {
    if (folder.isNew()) {
      folder.beginCreation();
    } else {
      LogCheck logs = checkLogs(folder);
      requireReadable(folder, settings);
      cutTornRecord(folder, logs);
    }
    settings.options().setWalRecoveryMode(WALRecoveryMode.AbsoluteConsistency);
    settings.options().setCreateIfMissing(folder.isNew());
    RocksDB db = RocksDB.open(settings.options(), folder.rocks().toString());
    try {
      OpenStore store = new OpenStore(folder, settings, db, options);
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

  private static LogCheck checkLogs(DataFolder folder) {
    try {
      return LogCheck.of(folder.rocks());
    } catch (DamagedLogException | IOException failure) {
      throw damaged(folder, failure);
    }
  }

  /** RocksDB writes while it opens; what cannot be opened has to be found out without that. */
  private static void requireReadable(DataFolder folder, RocksSettings settings) {
    settings.options().setWalRecoveryMode(WALRecoveryMode.PointInTimeRecovery);
    try {
      RocksDB.openReadOnly(settings.options(), folder.rocks().toString()).close();
    } catch (RocksDBException failure) {
      throw damaged(folder, failure);
    }
  }

  private static void cutTornRecord(DataFolder folder, LogCheck logs) {
    try {
      logs.cutTornRecord();
    } catch (IOException failure) {
      throw new StoreOpenException(
          "The data directory " + folder.folder() + " cannot be written: " + failure + ".",
          failure);
    }
  }

  private static StoreOpenException damaged(DataFolder folder, Exception cause) {
    return new StoreOpenException(
        "The store in " + folder.folder() + " is damaged and was not opened: " + cause.getMessage(),
        cause);
  }

  private void makeLeaseDurable() throws RocksDBException {
    long ceiling = lease.proposedCeiling();
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

  WriteOptions writeOptions() {
    return settings.writeOptions();
  }

  Path rocksFolder() {
    return folder.rocks();
  }

  /** The first version of this run, above all of earlier ones. */
  long firstVersion() {
    return firstVersion;
  }

  VersionLease lease() {
    return lease;
  }

  /** The stored value of FF/metadataVersion, or null. */
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
