package lectus.document.write;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import lectus.document.edit.Edit;
import lectus.document.edit.ReplicatedEdit;

/**
 * Edits of one document that are made as one: a single interactive edit, or replicated revisions of
 * it that follow each other in a request.
 *
 * @param edits all of one kind and of one id
 * @param places where in the request they stood
 */
record DocumentEdits(String id, List<Edit> edits, List<Integer> places) {
  private static final int HASH_BYTES = 16;

  /**
   * Groups a request's edits, in its order.
   *
   * @param mostBytes what a group of several weighs at most, so that it fits into one transaction
   */
  static List<DocumentEdits> of(List<? extends Edit> request, long mostBytes) {
    List<DocumentEdits> documents = new ArrayList<>(request.size());
    Map<String, DocumentEdits> latest = new HashMap<>();
    for (int place = 0; place < request.size(); place++) {
      Edit edit = request.get(place);
      DocumentEdits document = latest.get(edit.id());
      if (document == null || !document.takes(edit, mostBytes)) {
        document = new DocumentEdits(edit.id(), new ArrayList<>(1), new ArrayList<>(1));
        documents.add(document);
        latest.put(edit.id(), document);
      }
      document.edits.add(edit);
      document.places.add(place);
    }
    return documents;
  }

  boolean isReplicated() {
    return edits.get(0) instanceof ReplicatedEdit;
  }

  /** Roughly what writing the edits weighs in a transaction, in bytes. */
  long weight() {
    long weight = 0;
    for (Edit edit : edits) {
      weight += weight(edit);
    }
    return weight;
  }

  private boolean takes(Edit edit, long mostBytes) {
    return isReplicated() && edit instanceof ReplicatedEdit && weight() + weight(edit) <= mostBytes;
  }

  private static long weight(Edit edit) {
    long rows = edit.body().rows() + 1L;
    long perRow = edit.id().length() + TransactionBudget.MUTATION_BYTES;
    long history =
        edit instanceof ReplicatedEdit replicated ? replicated.path().ancestors().size() : 0;
    return edit.body().storedBytes() + rows * perRow + history * HASH_BYTES;
  }
}
