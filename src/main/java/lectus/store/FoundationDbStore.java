package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDB;
import com.apple.foundationdb.FDBException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import lectus.error.FoundationDbError;
import lectus.error.LectusException;
import lectus.error.StoreOpenException;
import lectus.store.Store.StorePlace;

/**
 * Opens a FoundationDB cluster. No other class touches fdb-java's {@code FDB}, because loading it
 * needs the native client library.
 */
public final class FoundationDbStore {
  /**
   * The selected API version, which is also the binding's own. Whatever version is selected, a
   * binding announces the version it was built for to the client library. So a 7.4 binding cannot
   * work with a 7.3 library, but a 7.3 binding works with both.
   */
  private static final int API_VERSION = 730;

  private FoundationDbStore() {}

  /** Like {@link #open(Path, Duration, List)}, in {@link Store#DEFAULT_DIRECTORY}. */
  public static Store open(Path clusterFile, Duration timeout) {
    return open(clusterFile, timeout, Store.DEFAULT_DIRECTORY);
  }

  /**
   * Connects to a cluster. Closing the store ends this process's use of FoundationDB, because its
   * network thread cannot be started twice.
   *
   * @param timeout how long the cluster may take to answer
   * @param directory a path of the directory layer
   * @throws StoreOpenException if the client library is missing, the cluster file is missing or
   *     invalid, or the cluster does not answer in time
   */
  public static Store open(Path clusterFile, Duration timeout, List<String> directory) {
    return open(clusterFile, timeout, directory, Store::in);
  }

  /**
   * Like {@link #open(Path, Duration, List)}, for reading only. Nothing is written, not even while
   * opening.
   *
   * @throws StoreOpenException also if the directory holds no store
   */
  public static Store openReadOnly(Path clusterFile, Duration timeout, List<String> directory) {
    return open(clusterFile, timeout, directory, Store::existing);
  }

  private static Store open(
      Path clusterFile,
      Duration timeout,
      List<String> directory,
      Function<StorePlace, Store> opening) {
    if (!Files.isReadable(clusterFile) || Files.isDirectory(clusterFile)) {
      throw new StoreOpenException("The cluster file " + clusterFile + " cannot be read.");
    }
    FDB client = client();
    Database database = connect(client, clusterFile);
    return new StorePlace(
            database,
            directory,
            new TransactionLimits(TransactionLimits.DEFAULT.retries(), timeout),
            Optional.of(TransactionIds.afterAWhile()),
            () -> close(client, database))
        .open(opening, e -> unreachable(clusterFile, timeout, e));
  }

  private static FDB client() {
    try {
      FDB client = FDB.selectAPIVersion(API_VERSION);
      // The store's owner closes it at shutdown; the library's own hook would race with that.
      client.disableShutdownHook();
      return client;
    } catch (LinkageError e) {
      throw new StoreOpenException(
          "FoundationDB's client library (libfdb_c) is not installed on this machine.", e);
    } catch (FDBException e) {
      throw new StoreOpenException(
          FoundationDbError.API_VERSION_NOT_SUPPORTED.is(e.getCode())
              ? "FoundationDB's client library on this machine is too old: 7.3 or newer is needed."
              : "FoundationDB's client library refused: " + e.getMessage() + ".",
          e);
    }
  }

  private static Database connect(FDB client, Path clusterFile) {
    try {
      return client.open(clusterFile.toString());
    } catch (FDBException e) {
      throw noClusterFile(clusterFile, e);
    } catch (IllegalStateException e) {
      throw new StoreOpenException(
          "FoundationDB was closed in this process and cannot be opened again.", e);
    }
  }

  private static StoreOpenException unreachable(
      Path clusterFile, Duration timeout, RuntimeException cause) {
    String cluster = "The FoundationDB cluster of " + clusterFile;
    if (cause instanceof LectusException
        || FoundationDbError.TRANSACTION_TIMED_OUT.is(codeOf(cause))) {
      String sentence = cluster + " does not answer within " + timeout.toMillis() + " ms.";
      return new StoreOpenException(sentence, cause);
    }
    if (FoundationDbError.CONNECTION_STRING_INVALID.is(codeOf(cause))) {
      return noClusterFile(clusterFile, cause);
    }
    return new StoreOpenException(cluster + " refused: " + cause.getMessage() + ".", cause);
  }

  private static StoreOpenException noClusterFile(Path clusterFile, RuntimeException cause) {
    return new StoreOpenException(
        "The file " + clusterFile + " is not a FoundationDB cluster file.", cause);
  }

  private static int codeOf(RuntimeException e) {
    return e instanceof FDBException f ? f.getCode() : 0;
  }

  private static void close(FDB client, Database database) {
    database.close();
    client.stopNetwork();
  }
}
