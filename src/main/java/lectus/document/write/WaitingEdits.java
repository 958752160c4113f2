package lectus.document.write;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Edits of a request that still have to be made, in their order. */
final class WaitingEdits {
  private final Deque<DocumentEdits> waiting;
  private final long batchBytes;

  WaitingEdits(List<DocumentEdits> documents, long batchBytes) {
    this.waiting = new ArrayDeque<>(documents);
    this.batchBytes = batchBytes;
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /**
   * Takes what goes into the next transaction: at least one document, each only once, so that a
   * second edit of a document sees what became of the first.
   */
  List<DocumentEdits> take(int documents) {
    List<DocumentEdits> batch = new ArrayList<>();
    List<DocumentEdits> again = new ArrayList<>();
    Set<String> ids = new HashSet<>();
    long weight = 0;
    while (!waiting.isEmpty() && batch.size() < documents && weight < batchBytes) {
      DocumentEdits next = waiting.removeFirst();
      if (ids.add(next.id())) {
        weight += next.weight();
        batch.add(next);
      } else {
        again.add(next);
      }
    }
    putBack(again);
    return batch;
  }

  /** Takes all that is left, behind what was taken last. */
  List<DocumentEdits> all(List<DocumentEdits> taken) {
    List<DocumentEdits> all = new ArrayList<>(taken);
    all.addAll(waiting);
    waiting.clear();
    return all;
  }

  /** Puts documents back to the front. */
  void putBack(List<DocumentEdits> documents) {
    for (int i = documents.size() - 1; i >= 0; i--) {
      waiting.addFirst(documents.get(i));
    }
  }
}
