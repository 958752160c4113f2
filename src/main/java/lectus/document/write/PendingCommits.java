package lectus.document.write;

import com.apple.foundationdb.FDBException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.error.LectusException;

/**
 * A write of which a transaction is under way. The caller who began it goes on with it whenever the
 * store has answered, on any thread.
 */
public interface PendingCommits {
  /** Calls {@code then} once, on any thread, when the store has answered. */
  void whenAnswered(Runnable then);

  /** Whether everything is stored, so that {@link #goOn} ends the write and reads nothing. */
  boolean isStored();

  /** Returns roughly the memory of what the transaction under way writes, in bytes. */
  long plannedBytes();

  /**
   * Takes the store's answer, and begins the next transaction if something is left or has to be
   * retried. After {@link #whenAnswered} it waits for what that transaction reads, and for nothing
   * else.
   *
   * @return empty if the store is to answer again
   * @throws LectusException as {@link DocumentWriter#write}; then the write is over
   * @throws FDBException as {@link DocumentWriter#write}; then the write is over
   */
  Optional<WriteResult> goOn();

  /** Waits until the write is over; throws as {@link #goOn}. */
  default WriteResult finish() {
    Optional<WriteResult> result = goOn();
    while (result.isEmpty()) {
      result = goOn();
    }
    return result.get();
  }

  /**
   * The outcome of one request's edits.
   *
   * @param outcomes one per edit, in the same order; if one of an atomic request failed, it stored
   *     nothing
   * @param instance the life of the database that was written to
   * @param last the highest sequence that the request got; empty if nothing was written
   * @param shards the changes shards written to
   */
  record WriteResult(
      List<EditOutcome> outcomes,
      InstanceId instance,
      Optional<Sequence> last,
      Set<ShardId> shards) {

    /** Returns the result of a write and of what is made of it later. */
    WriteResult followedBy(WriteResult later) {
      Set<ShardId> all = new HashSet<>(shards);
      all.addAll(later.shards);
      return new WriteResult(later.outcomes, later.instance, later.last.or(() -> last), all);
    }

    WriteResult with(List<EditOutcome> others) {
      return new WriteResult(others, instance, last, shards);
    }
  }
}
