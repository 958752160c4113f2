/**
 * The changes of many databases in the order of the store's commits (docs/feeds.md, "Many databases
 * in one order"); {@link lectus.changes.multi.ManyDatabases} is the way in. Also the feed of the
 * updates log, {@code _db_updates}.
 */
package lectus.changes.multi;
