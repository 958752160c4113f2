package lectus.document;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseRequest;
import lectus.database.InstanceId;
import lectus.error.LectusException;
import lectus.store.TransactionRunner;

/**
 * Runs the reads of one answer, each at its own read version, for whoever may read the database at
 * that version. All of them see the same life of the database. A database that was deleted and
 * created again under its name is another one: its rows cannot continue the answer. Not
 * thread-safe.
 */
public final class DatabaseReads {
  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final DatabaseRequest asked;
  private Optional<InstanceId> instance;
  private boolean goesOn;

  public DatabaseReads(Catalogue catalogue, TransactionRunner transactions, DatabaseRequest asked) {
    this(catalogue, transactions, asked, Optional.empty());
  }

  private DatabaseReads(
      Catalogue catalogue,
      TransactionRunner transactions,
      DatabaseRequest asked,
      Optional<InstanceId> instance) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.asked = asked;
    this.instance = instance;
  }

  /** Reads one life of a database for the server itself. */
  public static DatabaseReads of(
      Catalogue catalogue, TransactionRunner transactions, DatabaseHandle life) {
    return new DatabaseReads(
        catalogue,
        transactions,
        DatabaseRequest.byServer(life.name()),
        Optional.of(life.instance()));
  }

  /**
   * Runs the body, and retries it if the store asks for that.
   *
   * @throws LectusException {@code not_found} when the database is gone; what the permit says
   */
  public <T> T read(BiFunction<ReadTransaction, DatabaseHandle, T> body) {
    return readAt(OptionalLong.empty(), body);
  }

  /**
   * Like {@link #read}, at an earlier read version for as long as the store keeps it, and then at a
   * new one.
   */
  public <T> T readAt(OptionalLong version, BiFunction<ReadTransaction, DatabaseHandle, T> body) {
    if (goesOn) {
      asked.permit().checkAdmission();
    }
    goesOn = true;
    return transactions.readAt(version, tx -> body.apply(tx, current(tx)));
  }

  private DatabaseHandle current(ReadTransaction tx) {
    DatabaseHandle db = asked.current(tx, catalogue);
    if (instance.filter(life -> !life.equals(db.instance())).isPresent()) {
      throw LectusException.notFound("Database does not exist.");
    }
    instance = Optional.of(db.instance());
    return db;
  }
}
