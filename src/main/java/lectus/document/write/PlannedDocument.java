package lectus.document.write;

import java.util.List;
import java.util.Optional;
import lectus.error.LectusError;

/**
 * Edits of one document after all reads and checks.
 *
 * @param outcomes one per edit, valid once {@code update} is stored
 * @param update empty if there is nothing to write
 */
record PlannedDocument(
    EditGroup edits, List<EditOutcome> outcomes, Optional<? extends PlannedUpdate> update) {

  static PlannedDocument written(
      EditGroup edits, EditOutcome.Written outcome, DocumentUpdate update) {
    return new PlannedDocument(edits, List.of(outcome), Optional.of(update));
  }

  /** An update that no edit of a client has made. */
  static PlannedDocument of(DocumentUpdate update) {
    EditGroup none = new EditGroup(update.id(), List.of(), List.of());
    return new PlannedDocument(none, List.of(), Optional.of(update));
  }

  PlannedDocument writing(DocumentUpdate other) {
    return new PlannedDocument(edits, outcomes, Optional.of(other));
  }

  /** None of the edits is stored. */
  static PlannedDocument failed(EditGroup edits, LectusError error) {
    return new PlannedDocument(edits, failures(edits, error), Optional.empty());
  }

  /** None of the edits is stored, because others are not. */
  static PlannedDocument withheld(EditGroup edits) {
    List<EditOutcome> outcomes =
        edits.edits().stream()
            .<EditOutcome>map(edit -> new EditOutcome.Withheld(edit.id()))
            .toList();
    return new PlannedDocument(edits, outcomes, Optional.empty());
  }

  /** Nothing is stored before functions have judged an earlier edit of the document. */
  static List<EditOutcome> unjudged(EditGroup edits) {
    return edits.edits().stream()
        .<EditOutcome>map(edit -> new EditOutcome.Unjudged(edit.id(), Optional.empty()))
        .toList();
  }

  static List<EditOutcome> failures(EditGroup edits, LectusError error) {
    return edits.edits().stream().map(edit -> EditFailures.of(edit, error)).toList();
  }

  /** Returns the update, unless there is none or it is of a local document. */
  Optional<DocumentUpdate> replicating() {
    return update.filter(DocumentUpdate.class::isInstance).map(DocumentUpdate.class::cast);
  }

  boolean isUnjudged() {
    return outcomes.stream().anyMatch(EditOutcome.Unjudged.class::isInstance);
  }

  boolean hasFailed() {
    return outcomes.stream().anyMatch(EditOutcome.Failed.class::isInstance);
  }
}
