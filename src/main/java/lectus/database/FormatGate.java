package lectus.database;

import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.ReachedFormat;
import lectus.store.TransactionRunner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Refuses document writes to a database that is not in the current format. Its validators are not
 * listed, and its rows would mix with new ones in an order that readers do not expect.
 *
 * <p>A server of an earlier version may have created such a database after the store was marked as
 * upgraded. So the mark is removed, and the next start looks at every database again.
 */
final class FormatGate {
  private static final Logger LOG = LoggerFactory.getLogger(FormatGate.class);

  /** Only the start of a server changes the refusal. */
  private static final int RETRY_AFTER_SECONDS = 60;

  private final TransactionRunner transactions;
  private final ReachedFormat format;

  FormatGate(TransactionRunner transactions, ReachedFormat format) {
    this.transactions = transactions;
    this.format = format;
  }

  /**
   * @throws LectusException Unavailable (503) if the database is not in the current format
   */
  void check(DatabaseHandle db) {
    if (db.isCurrent()) {
      return;
    }
    if (letNextStartLook()) {
      LOG.warn(
          "The database {} has the format of an earlier version; the next start upgrades it",
          db.name().text());
    }
    throw new LectusException(
        new LectusError.Unavailable(
            "The database has the format of an earlier version and takes no writes until it is"
                + " upgraded. Start the server again: it upgrades the database, or its log says"
                + " why it cannot.",
            RETRY_AFTER_SECONDS));
  }

  /** Runs in its own transaction, because the current one is abandoned. */
  private boolean letNextStartLook() {
    return transactions.<Boolean>runIdempotent(
        tx -> {
          boolean isSaidToBeDone = format.read(tx) >= DatabaseHandle.CURRENT_FORMAT;
          if (isSaidToBeDone) {
            format.clear(tx);
          }
          return isSaidToBeDone;
        });
  }
}
