package lectus.store.embedded.engine;

import java.io.IOException;
import lectus.error.StoreOpenException;
import lectus.store.embedded.engine.folder.DataFolder;
import lectus.store.embedded.engine.folder.IoFailure;
import lectus.store.embedded.engine.folder.LogCheck;
import lectus.store.embedded.engine.folder.LogCheck.DamagedLogException;
import lectus.store.embedded.engine.folder.LogRecord;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteOptions;

/** An open data folder: its lock, its RocksDB, and the state that the last run left. */
final class OpenStore implements AutoCloseable {
  /**
   * The first version of a new store. It leaves room below for versions some seconds older, which
   * stay positive.
   */
  private static final long FIRST_VERSION = 100_000_000;

  final DataFolder folder;
  final RocksSettings settings;
  final RocksDB db;
  final VersionLease lease;

  /** The first version of this run, above all of earlier runs. */
  final long firstVersion;

  /** The stored value of FF/metadataVersion, or null. */
  final byte[] metadataVersion;

  private OpenStore(
      DataFolder folder, RocksSettings settings, RocksDB db, long ceiling, EngineOptions options)
      throws RocksDBException {
    this.folder = folder;
    this.settings = settings;
    this.db = db;
    this.lease = new VersionLease(options.microClock, ceiling);
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

  @Override
  public void close() {
    db.close();
    settings.close();
    folder.close();
  }

  /**
   * Checks that a stopped store still holds everything that was committed to it. Opening a store
   * and checking one both use it. It changes nothing until {@link #cutTornRecord}.
   */
  static final class StoppedStore {
    /** RocksDB has written the logs below this number to its tables and may have deleted them. */
    private static final String OLDEST_NEEDED_LOG = "rocksdb.min-log-number-to-keep";

    private final DataFolder folder;
    private final LogRecord record;
    private final LogCheck logs;

    private StoppedStore(DataFolder folder, LogRecord record, LogCheck logs) {
      this.folder = folder;
      this.record = record;
      this.logs = logs;
    }

    /**
     * Reads the logs, before RocksDB does.
     *
     * @throws StoreOpenException if more than the end of the newest log is broken
     */
    static StoppedStore in(DataFolder folder) {
      try {
        return new StoppedStore(folder, folder.logRecord().read(), LogCheck.of(folder.rocks()));
      } catch (DamagedLogException failure) {
        throw damaged(folder, failure);
      } catch (IOException failure) {
        throw new StoreOpenException(
            "The store in " + folder.folder() + " cannot be read: " + failure + ".", failure);
      }
    }

    /** Converts RocksDB's failure to open the store. */
    static StoreOpenException refused(DataFolder folder, RocksDBException failure) {
      IoFailure met = IoFailure.of(failure);
      return met.kind() == IoFailure.Kind.FAILED
          ? damaged(folder, failure)
          : new StoreOpenException(
              "The store in " + folder.folder() + " cannot be opened. " + met.sentence(), failure);
    }

    private static StoreOpenException damaged(DataFolder folder, Exception cause) {
      return StoreOpenException.damage(
          "The store in "
              + folder.folder()
              + " is damaged and was not opened: "
              + cause.getMessage(),
          cause);
    }

    /**
     * Compares the logs and the versions with what was recorded of them.
     *
     * @param db the store, open for reading
     * @return a version above all that were ever given out
     * @throws StoreOpenException if something is missing
     */
    long requireComplete(RocksDB db) throws RocksDBException {
      try {
        logs.require(record, db.getLongProperty(OLDEST_NEEDED_LOG));
      } catch (DamagedLogException failure) {
        throw StoreOpenException.damage(
            damaged(folder, failure).getMessage()
                + "; bring that file back or restore a backup. To open the remaining data without"
                + " the lost commits, delete the lines that begin with \"log\" in "
                + folder.logRecord()
                + ".",
            failure);
      }
      // A start reads it, too. If it cannot be read, that has to be known before anything is
      // written.
      db.get(SystemKeys.METADATA_VERSION);
      return requireCeiling(db.get(SystemKeys.VERSION_CEILING));
    }

    private long requireCeiling(byte[] stored) {
      if (record.lengths().isEmpty() && record.ceiling() > 0) {
        // An administrator accepted a loss; the stored ceiling may be part of it.
        return stored == null
            ? record.ceiling()
            : Math.max(record.ceiling(), SystemKeys.decodeVersion(stored));
      }
      if (stored == null) {
        throw StoreOpenException.damage(
            "The store in " + folder.folder() + " is damaged: its version ceiling is missing.");
      }
      long ceiling = SystemKeys.decodeVersion(stored);
      if (ceiling < record.ceiling()) {
        throw StoreOpenException.damage(
            "The store in "
                + folder.folder()
                + " is damaged and was not opened: its versions go up to "
                + ceiling
                + " and had gone up to "
                + record.ceiling()
                + ", so it is an older state; restore a backup. To open the remaining data without"
                + " the lost commits, delete the lines that begin with \"log\" in "
                + folder.logRecord()
                + ".");
      }
      return SystemKeys.decodeNext(stored);
    }

    /** Cuts off the record that a crash left unfinished. This is the first change to the store. */
    void cutTornRecord() {
      try {
        logs.cutTornRecord();
      } catch (IOException failure) {
        throw new StoreOpenException(
            "The data directory " + folder.folder() + " cannot be written: " + failure + ".",
            failure);
      }
    }
  }
}
