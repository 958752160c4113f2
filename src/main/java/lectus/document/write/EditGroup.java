package lectus.document.write;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.document.BodyRows;
import lectus.document.DocumentsSubspace;
import lectus.document.edit.Edit;
import lectus.document.edit.ReplicatedEdit;
import lectus.document.write.DocumentWriter.TransactionBudget;
import lectus.store.Fence;

/**
 * Edits of one document that are made together: a single interactive edit, or replicated revisions
 * that follow each other in a request.
 *
 * @param edits all of the same kind and id, by the same user, and behind the same fence
 * @param places their indexes in the request
 */
record EditGroup(String id, List<Edit> edits, List<Integer> places) {
  private static final int HASH_BYTES = 16;

  /** The most edits of a group, because each looks at all leaves of its document. */
  private static final int MAX_EDITS = 500;

  /** Roughly what an attachment adds: a part of a value, and a reference. */
  private static final long BYTES_PER_ATTACHMENT = 600;

  /**
   * Groups a request's edits, in its order.
   *
   * @param mostBytes maximum weight of a group of several edits, so that it fits into one
   *     transaction
   */
  static List<EditGroup> of(List<? extends Edit> request, long mostBytes) {
    List<EditGroup> documents = new ArrayList<>(request.size());
    Map<String, EditGroup> latest = new HashMap<>();
    for (int place = 0; place < request.size(); place++) {
      Edit edit = request.get(place);
      EditGroup document = latest.get(edit.id());
      if (document == null || !document.takes(edit, mostBytes)) {
        document = new EditGroup(edit.id(), new ArrayList<>(1), new ArrayList<>(1));
        documents.add(document);
        latest.put(edit.id(), document);
      }
      document.edits.add(edit);
      document.places.add(place);
    }
    return documents;
  }

  /**
   * Returns whether the edits delete or purge and add nothing, so that they may be made while the
   * disk is short of space. A replicated tombstone may be that of a document which is not there.
   */
  boolean frees() {
    return edits.stream()
        .allMatch(
            edit ->
                edit.deleted()
                    && !(edit instanceof ReplicatedEdit)
                    && edit.body().rows() == 0
                    && edit.attachments().all().isEmpty());
  }

  boolean isReplicated() {
    return edits.get(0) instanceof ReplicatedEdit;
  }

  Optional<Fence> fence() {
    return edits.get(0).fence();
  }

  /** Returns roughly what the edits weigh in a transaction, in bytes. */
  long weight() {
    long weight = 0;
    for (Edit edit : edits) {
      weight += weight(edit, true);
    }
    return weight;
  }

  private boolean takes(Edit edit, long mostBytes) {
    boolean isLikeThese =
        edit instanceof ReplicatedEdit
            && edit.by().equals(edits.get(0).by())
            && edit.fence().equals(fence());
    return isReplicated()
        && isLikeThese
        && edits.size() < MAX_EDITS
        && edits.stream().mapToLong(it -> weight(it, false)).sum() + weight(edit, false)
            <= mostBytes;
  }

  /**
   * @param mostly false for the layout in which it weighs most, true for the usual one
   */
  private static long weight(Edit edit, boolean mostly) {
    int keyBytes = DocumentsSubspace.keyOverhead(edit.id(), HASH_BYTES);
    long history =
        edit instanceof ReplicatedEdit replicated ? replicated.path().ancestors().size() : 0;
    return BodyRows.weight(edit.body(), keyBytes, mostly)
        + keyBytes
        + TransactionBudget.MUTATION_BYTES
        + history * HASH_BYTES
        + edit.attachments().all().size() * BYTES_PER_ATTACHMENT;
  }
}
