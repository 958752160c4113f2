package lectus.audit;

import java.util.ArrayList;
import java.util.List;

/** What an audit has seen. Of very many findings it keeps the first ones. */
public final class AuditReport {
  /** Whoever reads more lines than these learns nothing new. */
  static final int MOST_FINDINGS = 1_000;

  private static final int BETWEEN_REACHED = 20_000;

  private final AuditListener listener;
  private final List<Finding> findings = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private final ReadVersions versions = new ReadVersions();
  private long found;
  private long databases;
  private long notLookedAt;
  private long documents;

  AuditReport(AuditListener listener) {
    this.listener = listener;
  }

  /** The first findings, in the order in which they were made. */
  public List<Finding> findings() {
    return List.copyOf(findings);
  }

  /** All findings, also those that were not kept. */
  public long found() {
    return found;
  }

  public boolean isSound() {
    return found == 0;
  }

  /** What is worth knowing and no finding. */
  public List<String> notes() {
    return List.copyOf(notes);
  }

  /** All databases that there are, also those that were not looked at. */
  public long databases() {
    return databases;
  }

  /** Databases in the format of an earlier version, of which nothing is known. */
  public long notLookedAt() {
    return notLookedAt;
  }

  /** Documents looked at, deleted ones included. */
  public long documents() {
    return documents;
  }

  /** At which versions of the store it was read. */
  public ReadVersions versions() {
    return versions;
  }

  void add(String place, String problem) {
    Finding finding = new Finding(place, problem);
    if (found++ < MOST_FINDINGS) {
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

  /** Notes why a database that was counted is not looked at. */
  void passOver(String sentence) {
    notLookedAt++;
    note(sentence);
  }

  void countDocument() {
    if (++documents % BETWEEN_REACHED == 0) {
      listener.reached("documents", documents);
    }
  }

  /** Puts this report in the state in which another one is. */
  void takeOver(AuditReport other) {
    other.findings.forEach(finding -> add(finding.place(), finding.problem()));
    found += other.found - other.findings.size();
    notes.addAll(other.notes);
    databases += other.databases;
    notLookedAt += other.notLookedAt;
    documents += other.documents;
    versions.include(other.versions);
  }

  /** A report on a part, to be taken over if it counts. */
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
}
