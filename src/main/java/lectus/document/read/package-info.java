/**
 * Reads documents (RFC 004): one at its winner or at a revision, its open revisions, and for feeds
 * and queries many at known leaves, whole, in some fields, or only as far as a selector looks. Also
 * the reads of replicators: {@code _revs_diff}, {@code _missing_revs}, {@code _bulk_get}.
 *
 * <p>The all-docs index and the lists of documents: {@code _all_docs}, {@code _design_docs}, {@code
 * _local_docs}. {@link lectus.document.read.AllDocs} answers an {@link
 * lectus.document.read.AllDocsQuery} page by page. Also local documents, {@code _local/…}, which
 * have no revisions and no place in the changes index.
 */
package lectus.document.read;
