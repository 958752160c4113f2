package lectus.document.write;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.ValidatorsSubspace;
import lectus.document.design.ValidationMember;
import lectus.json.ExplodedBody;
import lectus.revision.EditBranch;
import lectus.store.Awaiting;

/**
 * Plans edits of a design document. They may also change whether it asks for validation. Its winner
 * decides that, whether it is a new leaf or a promoted one.
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
    this.isListed = new ValidatorsSubspace(scope.db().prefix()).contains(scope.tx(), id);
  }

  @Override
  public boolean readOn() {
    return planner.readOn();
  }

  @Override
  public PlannedDocument plan() {
    PlannedDocument planned = planner.plan();
    boolean wasListed = Awaiting.await(isListed);
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
                Awaiting.await(
                    ValidationMember.isStored(scope.tx(), scope.db(), id, winner.leaf())));
  }
}
