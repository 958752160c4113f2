package lectus.store.embedded.engine.commit;

import java.util.List;

/**
 * One transaction's request to the committer.
 *
 * @param readVersion the version its reads saw, or -1 if it took none (it then conflicts with
 *     nothing)
 * @param readConflicts merged and sorted; empty for a transaction that cannot lose
 * @param writeConflicts merged and sorted; the committer adds the final keys of
 *     SET_VERSIONSTAMPED_KEY
 * @param mutations in the order they were made
 * @param allRecorded whether {@code writeConflicts} contains the keys of every mutation
 * @param urgent whether it may commit while the disk is short of space, because it frees space
 */
public record CommitRequest(
    long readVersion,
    List<KeyRange> readConflicts,
    List<KeyRange> writeConflicts,
    List<Mutation> mutations,
    boolean allRecorded,
    boolean urgent) {}
