package lectus.document;

import lectus.revision.RevisionId;

/**
 * A decoded key of the documents subspace.
 *
 * @param deleted whether the revision is a tombstone
 * @param pathOffset offset in the key at which the leaf's path begins; the key's length for the
 *     revision's metadata
 */
public record BodyKey(boolean deleted, RevisionId revision, int pathOffset) {}
