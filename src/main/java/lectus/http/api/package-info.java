/**
 * Where requests come in: {@link lectus.http.api.HttpApi} checks a request and finds the resource
 * that its path names. Also the framing, idleness and orderly end of the connections that carry
 * requests; resources of the server itself ({@link lectus.http.api.ServerApi}, {@link
 * lectus.http.api.NodeApi}), and of databases as a whole and lists of them ({@link
 * lectus.http.api.DatabaseApi}); pages for browsers, and files of an administrator's folder.
 */
package lectus.http.api;
