package lectus.document.write;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.ValidatorsSubspace;
import lectus.document.design.ValidationMember;
import lectus.json.ExplodedBody;
import lectus.revision.EditBranch;
import lectus.store.Reads;

/**
 * Edits of a design document: beside what they do to its branches they may change whether it asks
 * for validation, which is for its winner to say, whether that is new or promoted.
 */
final class DesignPlanner implements DocumentPlanner {
  private final PlanningScope scope;
  private final DocumentPlanner planner;
  private final String id;
  private final CompletableFuture<Boolean> isListed;

  DesignPlanner(PlanningScope scope, DocumentPlanner planner, String id) {
    this.scope = scope;
    this.planner = planner;
    this.id = id;
    this.isListed = new ValidatorsSubspace(scope.database().prefix()).contains(scope.tx(), id);
  }

  @Override
  public void readOn() {
    planner.readOn();
  }

  @Override
  public PlannedDocument plan() {
    PlannedDocument planned = planner.plan();
    boolean wasListed = Reads.await(isListed);
    return planned
        .update()
        .map(DocumentUpdate.class::cast)
        .filter(update -> validates(update) != wasListed)
        .map(update -> planned.writing(update.withValidation(!wasListed)))
        .orElse(planned);
  }

  private boolean validates(DocumentUpdate update) {
    EditBranch winner = update.branches().winner();
    if (winner.deleted()) {
      return false;
    }
    Optional<ExplodedBody> written = Optional.ofNullable(update.bodies().get(winner.leaf()));
    return written
        .map(ValidationMember::isIn)
        .orElseGet(
            () ->
                Reads.await(
                    ValidationMember.isStored(scope.tx(), scope.database(), id, winner.leaf())));
  }
}
