/**
 * Where requests come in: {@link lectus.http.api.HttpApi} finds the resource that a path names and
 * lets it answer. What a resource answers is not known here.
 */
package lectus.http.api;
