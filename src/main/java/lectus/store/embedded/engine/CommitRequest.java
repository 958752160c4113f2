package lectus.store.embedded.engine;

import java.util.List;

/**
 * What one transaction asks the committer for.
 *
 * @param readVersion the version its reads saw, or -1 if it took none (it then conflicts with
 *     nothing)
 * @param readConflicts merged and sorted; empty for a transaction that cannot lose
 * @param writeConflicts merged and sorted; the committer adds the final keys of
 *     SET_VERSIONSTAMPED_KEY
 * @param mutations in the order they were made
 * @param allRecorded whether every mutation's keys are in {@code writeConflicts}
 * @param urgent whether it may go on where the disk is short: it frees space
 */
public record CommitRequest(
    long readVersion,
    List<KeyRange> readConflicts,
    List<KeyRange> writeConflicts,
    List<Mutation> mutations,
    boolean allRecorded,
    boolean urgent) {}
