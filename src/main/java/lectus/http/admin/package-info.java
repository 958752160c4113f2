/**
 * Resources of databases, of what belongs to each as a whole, and of lists of databases. {@link
 * lectus.http.admin.DatabaseApi} has them all. Files that an administrator wants served as they
 * are: which file a path names, and its bytes. A {@link lectus.http.admin.FolderResource} reads on
 * readers' threads and keeps nothing. Resources of the server itself: its greeting, its health, its
 * cluster, sessions, the idle scheduler of replications, its pages for browsers. {@link
 * lectus.http.admin.NodeApi} has them all. No database is opened here.
 */
package lectus.http.admin;
