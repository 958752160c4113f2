package lectus.document.write;

import java.util.List;
import java.util.Optional;
import lectus.document.edit.LocalEdit;
import lectus.document.local.LocalDocsSubspace;

/** A write of a local document: nothing is read, for whatever is there is replaced. */
final class LocalPlanner implements DocumentPlanner {
  private final DocumentEdits edits;
  private final LocalEdit edit;

  LocalPlanner(DocumentEdits edits, LocalEdit edit) {
    this.edits = edits;
    this.edit = edit;
  }

  @Override
  public void readOn() {
    // There is nothing to read.
  }

  @Override
  public PlannedDocument plan() {
    EditOutcome written =
        new EditOutcome.Written(edit.id(), LocalDocsSubspace.revision(edit.number()));
    return new PlannedDocument(edits, List.of(written), Optional.of(new LocalUpdate(edit)));
  }
}
