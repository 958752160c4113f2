package lectus.audit;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.audit.Reading.ReadVersions;
import lectus.audit.StoreAudit.AuditListener;

/** The results of an audit. Of very many findings it keeps only the first. */
public final class AuditReport {
  /** More findings than these tell the reader nothing new. */
  static final int MAX_FINDINGS = 1_000;

  private static final int BETWEEN_REACHED = 20_000;

  private final AuditListener listener;
  private final List<Finding> findings = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private final ReadVersions versions = new ReadVersions();
  private long found;
  private long databases;
  private long documents;

  AuditReport(AuditListener listener) {
    this.listener = listener;
  }

  /** Returns the first findings, in the order they were made. */
  public List<Finding> findings() {
    return List.copyOf(findings);
  }

  /** Returns the number of all findings, including those not kept. */
  public long found() {
    return found;
  }

  public boolean isSound() {
    return found == 0;
  }

  /** Returns remarks that are not findings. */
  public List<String> notes() {
    return List.copyOf(notes);
  }

  public long databases() {
    return databases;
  }

  /** Returns the number of documents examined, deleted ones included. */
  public long documents() {
    return documents;
  }

  public ReadVersions versions() {
    return versions;
  }

  void add(String place, String problem) {
    add(new Finding(place, problem, Optional.empty()));
  }

  void add(String place, String problem, Repair repair) {
    add(new Finding(place, problem, Optional.of(repair)));
  }

  void add(String place, String problem, Optional<Repair> repair) {
    add(new Finding(place, problem, repair));
  }

  private void add(Finding finding) {
    if (found++ < MAX_FINDINGS) {
      findings.add(finding);
      listener.found(finding);
    }
  }

  void note(String sentence) {
    notes.add(sentence);
  }

  void countDatabase() {
    databases++;
  }

  void countDocument() {
    if (++documents % BETWEEN_REACHED == 0) {
      listener.reached("documents", documents);
    }
  }

  /** Adopts the state of another report. */
  void takeOver(AuditReport other) {
    other.findings.forEach(this::add);
    found += other.found - other.findings.size();
    notes.addAll(other.notes);
    databases += other.databases;
    documents += other.documents;
    versions.include(other.versions);
  }

  /** Returns a report on a part, to be adopted if the part counts. */
  AuditReport part() {
    return new AuditReport(
        new AuditListener() {
          @Override
          public void found(Finding finding) {}

          @Override
          public void reached(String what, long count) {
            listener.reached(what, documents + count);
          }
        });
  }

  /**
   * Something that no writer leaves behind.
   *
   * @param place where it was found, such as {@code database "w"}
   * @param problem what is wrong, a sentence without a full stop
   * @param repair what mends it; empty if nothing does
   */
  public record Finding(String place, String problem, Optional<Repair> repair) {
    @Override
    public String toString() {
      return place + ": " + problem;
    }
  }
}
