package lectus.document.write;

import java.util.Map;
import java.util.Optional;
import lectus.json.ExplodedBody;
import lectus.revision.BranchUpdate;
import lectus.revision.RevisionId;

/**
 * Everything that one transaction writes for one replicating document.
 *
 * @param bodies the bodies of the new leaves
 * @param validation whether a design document now asks for validation; empty if that is unchanged
 */
public record DocumentUpdate(
    String id,
    BranchUpdate branches,
    Map<RevisionId, ExplodedBody> bodies,
    Optional<Boolean> validation)
    implements PlannedUpdate {

  public DocumentUpdate(String id, BranchUpdate branches, Map<RevisionId, ExplodedBody> bodies) {
    this(id, branches, bodies, Optional.empty());
  }

  DocumentUpdate withValidation(boolean validates) {
    return new DocumentUpdate(id, branches, bodies, Optional.of(validates));
  }
}
