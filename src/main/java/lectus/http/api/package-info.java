/**
 * Where requests come in: {@link lectus.http.api.HttpApi} finds the resource that a path names and
 * lets it answer.
 */
package lectus.http.api;
