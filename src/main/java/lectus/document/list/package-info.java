/**
 * The all-docs index and the lists of documents: {@code _all_docs}, {@code _design_docs}, {@code
 * _local_docs}. {@link lectus.document.list.AllDocs} answers an {@link
 * lectus.document.list.AllDocsQuery} page by page. Also local documents, {@code _local/…}, which
 * have no revisions and no place in the changes index.
 */
package lectus.document.list;
