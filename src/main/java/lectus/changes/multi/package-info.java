/**
 * The changes of many databases in the order of the store's commits (docs/feeds.md, "Many databases
 * in one order"). {@link lectus.changes.multi.ManyDatabases} is the way in. It knows neither
 * listeners nor what a row looks like. What is read of the updates log: which databases were
 * created, updated and deleted, and where readers of the whole store begin, stand, and hear of
 * news. It knows no rows of documents.
 */
package lectus.changes.multi;
