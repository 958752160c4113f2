/**
 * What all feeds share: sources that are read live, page by page, and what their pages consist of;
 * who tells that there is something new, and who is handed the rows. Neither sockets nor HTTP are
 * known here. What is told of a database as a whole: its figures, its shards, and where it stands.
 * No row is read here. Pages of the changes of one database, or of one of its shards, each read at
 * one read version: the shards' entries merged in one order, filtered, written as rows. {@link
 * lectus.changes.page.ChangesReader} is the way in. Listeners are not known here.
 */
package lectus.changes.page;
