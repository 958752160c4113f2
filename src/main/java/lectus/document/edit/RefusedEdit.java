package lectus.document.edit;

import java.util.Optional;
import lectus.error.LectusError;
import lectus.revision.RevisionId;

/**
 * A document of a bulk request that is no edit, while others of the request are.
 *
 * @param place where in the request it stood, from 0
 * @param id as it came, or a new one if it had none
 * @param revision the revision that a replicator wanted to bring, if it can be read
 */
public record RefusedEdit(int place, String id, Optional<RevisionId> revision, LectusError error) {}
