/**
 * Resources of documents: single ones, local ones, attachments, many at once, lists, and Mango
 * queries. {@link lectus.http.document.DocumentApi} has them all. No key or value of the store is
 * encoded here.
 */
package lectus.http.document;
