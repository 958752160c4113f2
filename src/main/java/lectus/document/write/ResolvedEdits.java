package lectus.document.write;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import lectus.database.DatabaseHandle;
import lectus.document.edit.Edit;
import lectus.error.LectusError;

/**
 * Edits whose attachments are all known by their contents, as the transaction sees them.
 *
 * @param lacking the edits whose attachments cannot be had, and why
 */
record ResolvedEdits(List<EditGroup> documents, Map<Edit, LectusError> lacking) {

  /** Reads nothing if no edit has attachments. */
  static ResolvedEdits of(Transaction tx, DatabaseHandle db, List<EditGroup> documents) {
    Map<EditGroup, AttachmentResolution> begun = new IdentityHashMap<>();
    for (EditGroup group : documents) {
      if (group.edits().stream().anyMatch(edit -> !edit.attachments().isEmpty())) {
        begun.put(group, new AttachmentResolution(tx, db, group));
      }
    }
    if (begun.isEmpty()) {
      return new ResolvedEdits(documents, Map.of());
    }
    begun.values().forEach(AttachmentResolution::readOn);
    Map<Edit, LectusError> lacking = new IdentityHashMap<>();
    List<EditGroup> resolved = new ArrayList<>(documents.size());
    for (EditGroup group : documents) {
      AttachmentResolution resolution = begun.get(group);
      resolved.add(resolution == null ? group : resolution.finish(lacking));
    }
    return new ResolvedEdits(resolved, lacking);
  }
}
