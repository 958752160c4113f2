package lectus.document.write;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.ShardId;

/**
 * What became of the edits of one request.
 *
 * @param outcomes one for each edit, in the same order
 * @param instance the life of the database that was written to
 * @param last the highest sequence that the request was given; empty if nothing was written
 * @param shards the changes shards that were written to
 */
public record WriteResult(
    List<EditOutcome> outcomes, InstanceId instance, Optional<Sequence> last, Set<ShardId> shards) {

  /** Whether some edit failed; of an atomic request nothing is stored then. */
  public boolean hasFailures() {
    return outcomes.stream().anyMatch(EditOutcome.Failed.class::isInstance);
  }
}
