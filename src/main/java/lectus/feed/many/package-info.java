/**
 * The changes of many databases in the order of the store's commits. ARCHITECTURE.md, "Many
 * databases in one order"; {@link lectus.feed.many.ManyDatabases} is the way in.
 */
package lectus.feed.many;
