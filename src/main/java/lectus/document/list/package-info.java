/**
 * The index of the live documents by id, and the lists that are read of it: {@code _all_docs},
 * {@code _design_docs}, {@code _local_docs}. {@link lectus.document.list.AllDocs} answers an {@link
 * lectus.document.list.AllDocsQuery} page by page. Nothing is written here but the rows of that
 * index. Local documents, {@code _local/…}: their subspace, and reading and removing single ones.
 * They have no revisions and no place in the changes index.
 */
package lectus.document.list;
