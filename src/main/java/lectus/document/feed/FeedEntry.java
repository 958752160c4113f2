package lectus.document.feed;

import lectus.changes.ChangeEntry;

/**
 * An entry of a stored feed.
 *
 * @param entry as the changes index has it or, of a document that has left, had it then
 */
public record FeedEntry(ChangeEntry entry, Standing standing) {}
