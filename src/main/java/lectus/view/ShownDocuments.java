package lectus.view;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.document.ReadAhead;
import lectus.document.read.AllDocsSubspace;
import lectus.document.read.AllDocsSubspace.AllDocsRow;
import lectus.document.read.LeafDocuments;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.view.ViewRows.Emitted;

/**
 * The documents that rows of a view show: the one that emitted a row, or the one that the row's
 * value names with {@code _id}, and at the {@code _rev} of the value, if it has one.
 */
final class ShownDocuments {
  private final ReadTransaction tx;
  private final AllDocsSubspace winners;
  private final RevisionsSubspace revisions;
  private final LeafDocuments documents;
  private final boolean conflicts;
  final ReadAhead ahead = new ReadAhead();

  ShownDocuments(ReadTransaction tx, DatabaseHandle db, ViewQuery query) {
    this.tx = tx;
    this.winners = new AllDocsSubspace(db);
    this.revisions = new RevisionsSubspace(db);
    this.documents = new LeafDocuments(tx, db, List.of(), query.attachments());
    this.conflicts = query.conflicts();
  }

  /**
   * Which document.
   *
   * @param rev which of its revisions, if not the winner
   */
  private record Named(String id, Optional<JsonValue> rev) {
    /** Returns empty if none is named, or what is no revision. */
    Optional<RevisionId> revision() {
      return rev.filter(JsonString.class::isInstance)
          .flatMap(text -> RevisionId.parse(((JsonString) text).value()));
    }
  }

  /** A document whose body is being read. */
  record Started(
      LeafDocuments.Started document, Optional<CompletableFuture<List<EditBranch>>> branches) {}

  void took(int rows, int bytes) {
    if (rows > 0) {
      ahead.took(rows, bytes);
    }
  }

  /** Begins to read the documents of some rows. */
  List<Optional<Started>> start(List<String> ids, List<Emitted> rows) {
    List<Optional<Named>> named = new ArrayList<>();
    List<CompletableFuture<Optional<AllDocsRow>>> reading = new ArrayList<>();
    List<CompletableFuture<Optional<EditBranch>>> leaves = new ArrayList<>();
    for (int i = 0; i < ids.size(); i++) {
      Optional<Named> one = named(ids.get(i), rows.get(i).value());
      named.add(one);
      reading.add(
          one.map(it -> winners.get(tx, it.id()))
              .orElseGet(() -> CompletableFuture.completedFuture(Optional.empty())));
      leaves.add(
          one.flatMap(it -> it.revision().map(rev -> revisions.branch(tx, it.id(), false, rev)))
              .orElseGet(() -> CompletableFuture.completedFuture(Optional.empty())));
    }
    List<Optional<Started>> started = new ArrayList<>();
    for (int i = 0; i < ids.size(); i++) {
      Optional<AllDocsRow> winner = Awaiting.await(reading.get(i));
      Optional<EditBranch> leaf = Awaiting.await(leaves.get(i));
      boolean isWinner = named.get(i).filter(it -> it.rev().isEmpty()).isPresent();
      Optional<RevisionId> shown =
          isWinner ? winner.map(AllDocsRow::winner) : leaf.map(EditBranch::leaf);
      String id = named.get(i).map(Named::id).orElse("");
      // As in CouchDB, a revision that is named is shown without them.
      boolean hasConflicts =
          isWinner && conflicts && winner.filter(it -> it.branchCount() > 1).isPresent();
      started.add(shown.map(it -> start(id, it, hasConflicts)));
    }
    return started;
  }

  private Started start(String id, RevisionId leaf, boolean hasConflicts) {
    return new Started(
        documents.start(id, false, leaf),
        hasConflicts ? Optional.of(revisions.branches(tx, id)) : Optional.empty());
  }

  /** Returns empty if the value names none: {@code {"_id":null}}. */
  private static Optional<Named> named(String emitter, byte[] value) {
    if (value[0] != '{' || !(JsonValue.parse(value) instanceof JsonObject object)) {
      return Optional.of(new Named(emitter, Optional.empty()));
    }
    JsonValue id = object.get("_id").orElseGet(() -> new JsonString(emitter));
    return id instanceof JsonString text
        ? Optional.of(new Named(text.value(), object.get("_rev")))
        : Optional.empty();
  }

  void append(Optional<Started> document, JsonBuffer out) {
    if (document.isEmpty()) {
      out.nil();
      return;
    }
    List<EditBranch> branches = document.get().branches().map(Awaiting::await).orElse(List.of());
    documents.append(document.get().document(), branches, out);
  }
}
