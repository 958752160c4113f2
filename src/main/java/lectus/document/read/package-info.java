/**
 * Reading documents (RFC 004): one at its winner or at a revision, all its open revisions, and for
 * feeds many at known leaves, whole, in some fields, or only as far as a selector looks.
 */
package lectus.document.read;
