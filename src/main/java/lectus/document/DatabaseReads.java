package lectus.document;

import com.apple.foundationdb.ReadTransaction;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.error.LectusException;
import lectus.store.TransactionRunner;

/**
 * Runs the reads of one answer, each at its own read version. All of them see the same life of the
 * database. A database that was deleted and created again under its name is another one: its rows
 * cannot continue the answer. Not thread-safe.
 */
public final class DatabaseReads {
  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final DatabaseName name;
  private final Consumer<DatabaseHandle> check;
  private InstanceId instance;

  public DatabaseReads(Catalogue catalogue, TransactionRunner transactions, DatabaseName name) {
    this(catalogue, transactions, name, null, any -> {});
  }

  /**
   * @param instance the life of the database to read; null for the one found first
   */
  public DatabaseReads(
      Catalogue catalogue, TransactionRunner transactions, DatabaseName name, InstanceId instance) {
    this(catalogue, transactions, name, instance, any -> {});
  }

  /**
   * @param check throws what keeps a read from being done
   */
  public DatabaseReads(
      Catalogue catalogue,
      TransactionRunner transactions,
      DatabaseName name,
      Consumer<DatabaseHandle> check) {
    this(catalogue, transactions, name, null, check);
  }

  private DatabaseReads(
      Catalogue catalogue,
      TransactionRunner transactions,
      DatabaseName name,
      InstanceId instance,
      Consumer<DatabaseHandle> check) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.name = name;
    this.instance = instance;
    this.check = check;
  }

  /**
   * Runs the body, and retries it if the store asks for that.
   *
   * @throws LectusException {@code not_found} when the database is gone
   */
  public <T> T read(BiFunction<ReadTransaction, DatabaseHandle, T> body) {
    return transactions.read(tx -> body.apply(tx, current(tx)));
  }

  private DatabaseHandle current(ReadTransaction tx) {
    DatabaseHandle db = catalogue.current(tx, name);
    if (instance != null && !instance.equals(db.instance())) {
      throw LectusException.notFound("Database does not exist.");
    }
    check.accept(db);
    instance = db.instance();
    return db;
  }
}
