/**
 * Pages of a feed, each read at one read version: entries of shards or channels, merged in one
 * order, filtered, and written as rows. {@link lectus.changes.page.ChangesReader} is the way in. A
 * live feed reads pages of a {@link lectus.changes.page.LiveSource} and passes rows to a {@link
 * lectus.changes.page.FeedSink}. Also the information about a database and its shards.
 */
package lectus.changes.page;
