/**
 * Reading documents (RFC 004): one at its winner or at a revision, all its open revisions, and for
 * feeds many at known leaves, whole, in some fields, or only as far as a selector looks. Lists are
 * not read here, and nothing is written.
 */
package lectus.document.read;
