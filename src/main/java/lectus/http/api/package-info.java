/**
 * Where requests come in: {@link lectus.http.api.HttpApi} checks a request and finds the resource
 * that its path names. Also the framing, idleness and orderly end of the connections that carry
 * requests.
 */
package lectus.http.api;
