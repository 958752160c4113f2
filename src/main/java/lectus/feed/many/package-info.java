/**
 * The changes of many databases in the order of the store's commits (docs/feeds.md, "Many databases
 * in one order"). {@link lectus.feed.many.ManyDatabases} is the way in. It knows neither listeners
 * nor what a row looks like.
 */
package lectus.feed.many;
