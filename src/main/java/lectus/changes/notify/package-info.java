/**
 * Wakes listeners when a database moved: the listeners of each database, the events of commits, and
 * the poller that finds changes that no event announced. A {@code LiveTail} reads new entries once
 * for all listeners of a source that have caught up (docs/feeds.md, "Live feeds"). {@link
 * lectus.server} carries the events between servers.
 *
 * <p>Also the changes of many databases in the order of the store's commits (docs/feeds.md, "Many
 * databases in one order"), where {@link lectus.changes.notify.ManyDatabases} is the way in, and
 * the feed of the updates log, {@code _db_updates}.
 */
package lectus.changes.notify;
