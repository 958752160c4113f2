/**
 * The index of the live documents by id, and the lists that are read of it: {@code _all_docs},
 * {@code _design_docs}, {@code _local_docs}. {@link lectus.document.alldocs.AllDocs} answers an
 * {@link lectus.document.alldocs.AllDocsQuery} page by page. Nothing is written here but the rows
 * of that index.
 */
package lectus.document.alldocs;
