/**
 * What is told of a database as a whole: its figures, its shards, and where it stands. No row is
 * read here.
 */
package lectus.feed.database;
