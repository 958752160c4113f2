/**
 * Reading documents (RFC 004): one at its winner or at a revision, all its open revisions, and for
 * feeds many at known leaves, whole, in some fields, or only as far as a selector looks. Lists are
 * not read here, and nothing is written. What replicators ask for many documents at once: which
 * revisions are missing, and those that are ({@code _revs_diff}, {@code _missing_revs}, {@code
 * _bulk_get}). Nothing is written here.
 */
package lectus.document.read;
