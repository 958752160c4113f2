package lectus.document.edit;

import java.util.Optional;
import lectus.error.LectusError;
import lectus.revision.RevisionId;

/**
 * A document of a bulk request that is not a valid edit, while the request goes on.
 *
 * @param place its index in the request, from 0
 * @param id as sent, or a new one if it had none
 * @param revision the revision that a replicator sent; empty if it is malformed
 */
public record RefusedEdit(int place, String id, Optional<RevisionId> revision, LectusError error) {}
