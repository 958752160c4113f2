package lectus.document.write;

import java.util.Map;
import lectus.json.ExplodedBody;
import lectus.revision.BranchUpdate;
import lectus.revision.RevisionId;

/**
 * Everything that one transaction writes for one document that replicates.
 *
 * @param bodies those of the new leaves
 */
record DocumentUpdate(String id, BranchUpdate branches, Map<RevisionId, ExplodedBody> bodies)
    implements PlannedUpdate {}
