package lectus.mango.index;

import java.util.List;
import lectus.revision.RevisionId;

/**
 * A document in an index.
 *
 * @param winner its live winner
 * @param values of the index's fields, as tuple elements; an empty one has to be read from the
 *     document, because it is long or a container
 */
public record IndexEntry(String docId, RevisionId winner, List<byte[]> values) {}
