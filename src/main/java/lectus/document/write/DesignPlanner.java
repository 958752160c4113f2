package lectus.document.write;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.ValidatorsSubspace;
import lectus.derived.IndexDefinition;
import lectus.document.BodyRows;
import lectus.json.ExplodedBody;
import lectus.mango.index.IndexListing;
import lectus.revision.EditBranch;
import lectus.store.Awaiting;

/**
 * Plans edits of a design document. They may also change whether it asks for validation, and which
 * indexes its database has. Its winner decides that, whether it is a new leaf or a promoted one.
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
        .map(update -> planned.writing(update.with(change(update, wasListed))))
        .orElse(planned);
  }

  private DesignChange change(DocumentUpdate update, boolean wasListed) {
    boolean validates = validates(update);
    List<IndexDefinition> indexes = indexes(update);
    return new DesignChange(
        Optional.of(validates).filter(it -> it != wasListed),
        Optional.of(indexes).filter(it -> IndexListing.changes(scope.db(), id, it)));
  }

  private List<IndexDefinition> indexes(DocumentUpdate update) {
    Optional<EditBranch> live = liveWinner(update);
    if (live.isEmpty()) {
      return List.of();
    }
    EditBranch winner = live.get();
    boolean isPartitioned = scope.db().configuration().partitioned();
    return Optional.ofNullable(update.bodies().get(winner.leaf()))
        .map(content -> DescribedIndexes.in(id, content.body(), isPartitioned))
        .orElseGet(() -> DescribedIndexes.stored(scope.tx(), scope.db(), id, winner.leaf()));
  }

  private static Optional<EditBranch> liveWinner(DocumentUpdate update) {
    return update.branches().winner().filter(it -> !it.deleted());
  }

  private boolean validates(DocumentUpdate update) {
    Optional<EditBranch> live = liveWinner(update);
    if (live.isEmpty()) {
      return false;
    }
    EditBranch winner = live.get();
    Optional<ExplodedBody> written =
        Optional.ofNullable(update.bodies().get(winner.leaf())).map(BodyRows::body);
    return written
        .map(ValidationMember::isIn)
        .orElseGet(() -> ValidationMember.isStored(scope.tx(), scope.db(), id, winner.leaf()));
  }
}
