package lectus.document.write;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The edits of a request that are still to be made, in order. */
final class WaitingEdits {
  private final Deque<EditGroup> waiting;
  private final long batchBytes;

  WaitingEdits(List<EditGroup> documents, long batchBytes) {
    this.waiting = new ArrayDeque<>(documents);
    this.batchBytes = batchBytes;
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /**
   * Takes the edits for the next transaction: at least one document, and each document only once,
   * so that a second edit of a document sees the result of the first.
   */
  List<EditGroup> take(int documents) {
    List<EditGroup> batch = new ArrayList<>();
    List<EditGroup> again = new ArrayList<>();
    Set<String> ids = new HashSet<>();
    long weight = 0;
    while (!waiting.isEmpty() && batch.size() < documents && weight < batchBytes) {
      EditGroup next = waiting.removeFirst();
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

  /** Takes everything left, after what was taken last. */
  List<EditGroup> all(List<EditGroup> taken) {
    List<EditGroup> all = new ArrayList<>(taken);
    all.addAll(waiting);
    waiting.clear();
    return all;
  }

  /** Puts documents back at the front. */
  void putBack(List<EditGroup> documents) {
    for (int i = documents.size() - 1; i >= 0; i--) {
      waiting.addFirst(documents.get(i));
    }
  }
}
