/**
 * Revision ids, edit branches and the rules by which one branch wins; the revisions subspace (RFC
 * 001). What a document holds is not known here.
 */
package lectus.revision;
