/**
 * Decides which entries a feed shows: by document ids, by a selector that is matched for many
 * documents at a time, or by the channels of a stored feed. {@link
 * lectus.changes.filter.FilterIndex} finds those of many listeners that want an entry.
 */
package lectus.changes.filter;
