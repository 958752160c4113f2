package lectus.jobs;

import java.util.Optional;
import lectus.database.DatabaseHandle;

/** Finds what jobs of one kind fill. Thread-safe. */
public interface FilledKind {
  JobKind kind();

  /**
   * Returns what a job fills, from the database's handle.
   *
   * @param number as it was given to {@link FillingJobs#begin}
   * @return empty if it is gone or is readable already: its job ends
   */
  Optional<Filled> find(DatabaseHandle db, long number);
}
