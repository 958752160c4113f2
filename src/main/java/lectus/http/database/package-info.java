/**
 * Resources of databases, of what belongs to each as a whole, and of lists of databases. {@link
 * lectus.http.database.DatabaseApi} has them all.
 */
package lectus.http.database;
