/**
 * Resources of the server itself ({@link lectus.http.admin.ServerApi}, {@link
 * lectus.http.admin.NodeApi}), and of databases as a whole and lists of them ({@link
 * lectus.http.admin.DatabaseApi}). Also pages for browsers, and files of an administrator's folder.
 */
package lectus.http.admin;
