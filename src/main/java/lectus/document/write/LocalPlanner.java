package lectus.document.write;

import java.util.List;
import java.util.Optional;
import lectus.document.edit.LocalEdit;
import lectus.document.local.LocalDocsSubspace;

/** Plans a write of a local document. It reads nothing, because it replaces whatever is stored. */
final class LocalPlanner implements DocumentPlanner {
  private final EditGroup edits;
  private final LocalEdit edit;

  LocalPlanner(EditGroup edits, LocalEdit edit) {
    this.edits = edits;
    this.edit = edit;
  }

  @Override
  public boolean readOn() {
    // There is nothing to read.
    return false;
  }

  @Override
  public PlannedDocument plan() {
    EditOutcome written =
        new EditOutcome.Written(edit.id(), LocalDocsSubspace.revision(edit.number()));
    return new PlannedDocument(edits, List.of(written), Optional.of(new LocalUpdate(edit)));
  }
}
