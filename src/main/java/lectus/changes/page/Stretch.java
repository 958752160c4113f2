package lectus.changes.page;

import java.util.List;
import java.util.Optional;
import lectus.changes.filter.Departures;
import lectus.changes.log.ChangeEntry;
import lectus.database.Sequence;

/**
 * Consecutive entries in the order in which they were read.
 *
 * @param stoppedAt where to continue if time ran out before the limit: no entry lies between the
 *     last one and this sequence
 * @param departures which of the entries are places where documents have left stored feeds
 */
public record Stretch(
    List<ChangeEntry> entries, Optional<Sequence> stoppedAt, Departures departures) {

  boolean isFull(int count) {
    return entries.size() == count;
  }

  Optional<Sequence> last() {
    return entries.isEmpty()
        ? Optional.empty()
        : Optional.of(entries.get(entries.size() - 1).sequence());
  }
}
