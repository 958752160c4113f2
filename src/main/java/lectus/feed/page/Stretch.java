package lectus.feed.page;

import java.util.List;
import java.util.Optional;
import lectus.changes.ChangeEntry;
import lectus.database.Sequence;

/**
 * Entries that follow each other in the order in which they were read.
 *
 * @param stoppedAt where to go on if there was no time to look further although there was room: no
 *     entry lies between the last one and this sequence
 */
record Stretch(List<ChangeEntry> entries, Optional<Sequence> stoppedAt) {}
