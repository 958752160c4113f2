package lectus.document.body;

import lectus.revision.RevisionId;

/**
 * What a key of the documents subspace says.
 *
 * @param deleted whether the revision is a tombstone
 * @param pathOffset where in the key the path of the leaf begins; the key's length for the
 *     revision's metadata
 */
public record BodyKey(boolean deleted, RevisionId revision, int pathOffset) {}
