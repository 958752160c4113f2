/**
 * Resources that are databases, what belongs to each as a whole, and lists of them. {@link
 * lectus.http.database.DatabaseResources} has them all.
 */
package lectus.http.database;
