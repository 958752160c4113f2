/**
 * Pages of the changes of one database, or of one of its shards, each read at one read version: the
 * shards' entries merged in one order, filtered, written as rows. {@link
 * lectus.feed.page.ChangesReader} is the way in. Listeners are not known here.
 */
package lectus.feed.page;
