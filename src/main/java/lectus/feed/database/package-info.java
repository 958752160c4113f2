/** What is told of a database as a whole: its figures, its shards, and where it stands. */
package lectus.feed.database;
