/**
 * Reads documents (RFC 004): one at its winner or at a revision, its open revisions, and for feeds
 * and queries many at known leaves, whole, in some fields, or only as far as a selector looks. Also
 * the reads of replicators: {@code _revs_diff}, {@code _missing_revs}, {@code _bulk_get}.
 */
package lectus.document.read;
