/**
 * Revision ids, edit branches, the rules by which one branch wins, and the revisions subspace (<a
 * href="https://github.com/apache/couchdb/blob/main/src/docs/rfcs/001-fdb-revision-metadata-model.md">RFC
 * 001</a>). Bodies are not read here.
 */
package lectus.revision;
