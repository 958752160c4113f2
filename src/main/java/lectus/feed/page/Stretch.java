package lectus.feed.page;

import java.util.List;
import java.util.Optional;
import lectus.changes.ChangeEntry;
import lectus.database.Sequence;

/**
 * Consecutive entries in the order in which they were read.
 *
 * @param stoppedAt where to continue if time ran out before the limit: no entry lies between the
 *     last one and this sequence
 */
record Stretch(List<ChangeEntry> entries, Optional<Sequence> stoppedAt) {}
