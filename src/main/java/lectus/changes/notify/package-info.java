/**
 * Wakes listeners when a database moved: the listeners of each database, the events of commits, and
 * the poller that finds changes that no event announced. A {@code LiveTail} reads new entries once
 * for all listeners of a source that have caught up (docs/feeds.md, "Live feeds"). {@link
 * lectus.server} carries the events between servers.
 */
package lectus.changes.notify;
