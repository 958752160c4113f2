package lectus.audit;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import lectus.audit.AuditReport.Finding;
import lectus.audit.StoreAudit.AuditListener;
import lectus.database.DatabaseName;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/**
 * Does the {@link Repair}s of findings, each in a transaction of its own. After those of one {@link
 * Repair.Step} it checks again, because one repair may end other findings or bring new ones.
 */
public final class StoreRepair {
  /** After so many rounds that end no finding, what is left cannot be repaired. */
  private static final int MAX_IN_VAIN = 3;

  private final Store store;
  private final Optional<DatabaseName> database;
  private final TransactionRunner transactions;

  /** Why something could not be repaired just now, by its place. */
  private final Map<String, String> refused = new LinkedHashMap<>();

  /**
   * @param database empty: all
   */
  public StoreRepair(Store store, Optional<DatabaseName> database) {
    this.store = store;
    this.database = database;
    this.transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
  }

  /**
   * Repairs, until nothing is left that can be repaired. A database that moves to another place
   * takes no writes: its findings stay, with a note.
   *
   * @param done is told what was done, and where
   * @return what the last check found
   */
  public AuditReport run(AuditListener listener, BiConsumer<String, Repair> done) {
    AuditReport report = repaired(audit(listener), done);
    refused.forEach((place, why) -> report.note("Not repaired: " + place + ": " + why));
    return report;
  }

  private AuditReport repaired(AuditReport first, BiConsumer<String, Repair> done) {
    AuditReport report = first;
    int inVain = 0;
    while (inVain < MAX_IN_VAIN) {
      AuditReport next = round(report, done);
      if (next == report) {
        return report;
      }
      inVain = next.found() < report.found() ? 0 : inVain + 1;
      report = next;
    }
    return report;
  }

  /** Returns the same report if there was nothing to do. */
  private AuditReport round(AuditReport report, BiConsumer<String, Repair> done) {
    AuditReport next = report;
    for (Repair.Step step : Repair.Step.values()) {
      Map<Repair, String> repairs = repairs(next, step);
      repairs.forEach(
          (repair, place) -> {
            if (make(place, repair)) {
              done.accept(place, repair);
            }
          });
      if (!repairs.isEmpty()) {
        next = audit(AuditListener.SILENT);
      }
    }
    return next;
  }

  private AuditReport audit(AuditListener listener) {
    StoreAudit audit = new StoreAudit(store, listener);
    return database.map(audit::run).orElseGet(audit::run);
  }

  /** Returns the repairs of a step, each with its place. */
  private Map<Repair, String> repairs(AuditReport report, Repair.Step step) {
    Map<Repair, String> repairs = new LinkedHashMap<>();
    for (Finding finding : report.findings()) {
      finding
          .repair()
          .filter(it -> it.step() == step && !refused.containsKey(finding.place()))
          .ifPresent(it -> repairs.put(it, finding.place()));
    }
    return repairs;
  }

  /** A counter must not be corrected twice. */
  private boolean make(String place, Repair repair) {
    try {
      transactions.<Void>run(
          tx -> {
            repair.change().accept(tx);
            return null;
          });
      return true;
    } catch (LectusException failure) {
      if (!(failure.error() instanceof LectusError.Unavailable)) {
        throw failure;
      }
      refused.put(place, failure.error().reason());
      return false;
    }
  }
}
