package lectus.changes.log;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import lectus.database.DatabaseUpdate;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;

/** All rows of a store's updates log, read as readers do. */
public final class LogRows {
  private LogRows() {}

  /** Returns the rows, oldest first. */
  public static List<DatabaseUpdate> of(Store store) {
    return of(store, 1_000);
  }

  static List<DatabaseUpdate> of(Store store, int perBucket) {
    UpdatesLog log = new UpdatesLog(store);
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    List<DatabaseUpdate> rows = new ArrayList<>();
    Optional<Versionstamp> from = Optional.of(Versionstamp.ZERO);
    while (from.isPresent()) {
      Versionstamp at = from.get();
      UpdatesLog.Chunk chunk = transactions.read(tx -> log.read(tx, at, perBucket));
      rows.addAll(chunk.rows());
      from = chunk.next();
    }
    return rows;
  }

  /** Returns {@code "created a"}, {@code "updated a"} and so on, oldest first. */
  public static List<String> told(Store store) {
    return of(store).stream()
        .map(row -> row.kind().name().toLowerCase(Locale.ROOT) + " " + row.name())
        .toList();
  }
}
