package lectus.audit;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import lectus.audit.DatabaseAudit.AuditedDatabase;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.derived.Derived;
import lectus.derived.rows.FillingJobs;
import lectus.derived.rows.JobTasksSubspace;
import lectus.derived.rows.JobsSubspace;
import lectus.derived.rows.JobsSubspace.Job;
import lectus.json.MalformedTupleException;
import lectus.store.Awaiting;

/**
 * Checks the jobs of one database, at one version: each task belongs to a job, and each index or
 * stored feed that is not readable has a job that makes it so.
 */
final class JobsAudit {
  private final ReadTransaction tx;
  private final byte[] root;
  private final AuditedDatabase database;
  private final DatabaseHandle db;
  private final AuditReport report;

  /**
   * @param root the prefix of the store's keys
   */
  JobsAudit(ReadTransaction tx, byte[] root, AuditedDatabase database, AuditReport report) {
    this.tx = tx;
    this.root = root.clone();
    this.database = database;
    this.db = database.handle();
    this.report = report;
  }

  AuditReport run() {
    try {
      List<Job> jobs = Awaiting.await(new JobsSubspace(root).of(tx, db.instance()));
      checkTasks(jobs);
      checkFilling(jobs);
    } catch (MalformedTupleException unreadable) {
      report.add(database.place(), "its jobs cannot be read (" + unreadable.getMessage() + ")");
    }
    return report;
  }

  private void checkTasks(List<Job> jobs) {
    JobTasksSubspace tasks = new JobTasksSubspace(db);
    RowsCheck rows = new RowsCheck(Reading.Snapshot.of(tx), report, database.place()).derived();
    List<Range> known = new ArrayList<>();
    for (Job job : jobs) {
      Range range = tasks.range(job.number());
      known.add(range);
      rows.each("A task of a job", range, tasks::decode);
    }
    rows.others(DatabaseSubspace.JOB_TASKS.range(db.prefix()), known, "a task of no job");
  }

  private void checkFilling(List<Job> jobs) {
    for (Derived each : db.derived()) {
      boolean isFilled =
          each.isReadable() || jobs.stream().anyMatch(it -> it.number() == each.number());
      if (!isFilled) {
        report.add(
            database.place(),
            "no job fills the " + each.definition().title(),
            beginning(each.number()));
      }
    }
  }

  private Repair beginning(long number) {
    return Repair.of(
        Repair.Step.DERIVED_ROWS,
        "a job begins, which a server does",
        write -> {
          DatabaseHandle now = database.currentForWrites(write);
          new FillingJobs(root).begin(write, now, number);
          database.catalogue().moveVersion(write, now);
        });
  }
}
