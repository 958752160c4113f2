package lectus.document.write;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.ShardId;

/**
 * The outcome of one request's edits.
 *
 * @param outcomes one per edit, in the same order
 * @param instance the life of the database that was written to
 * @param last the highest sequence that the request got; empty if nothing was written
 * @param shards the changes shards written to
 */
public record WriteResult(
    List<EditOutcome> outcomes, InstanceId instance, Optional<Sequence> last, Set<ShardId> shards) {

  /** Whether some edit failed; then an atomic request stored nothing. */
  public boolean hasFailures() {
    return outcomes.stream().anyMatch(EditOutcome.Failed.class::isInstance);
  }
}
