/**
 * Resources that are documents: single ones, local ones, many at once, and lists of them. {@link
 * lectus.http.document.DocumentApi} has them all. Keys and values of the store are not known here.
 */
package lectus.http.document;
