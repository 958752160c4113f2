/**
 * Resources that are documents: single ones, local ones, many at once, and lists of them. {@link
 * lectus.http.document.DocumentResources} has them all.
 */
package lectus.http.document;
