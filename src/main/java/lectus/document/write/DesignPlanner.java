package lectus.document.write;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.ValidatorsSubspace;
import lectus.document.design.ValidationMember;
import lectus.json.ExplodedBody;
import lectus.revision.EditBranch;
import lectus.store.Reads;

/**
 * Plans edits of a design document. They may also change whether it asks for validation: its winner
 * decides, be it a new leaf or one that was promoted.
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
