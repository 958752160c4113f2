package lectus.document.edit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.revision.RevisionId;

/**
 * Edits of a {@code _bulk_docs} request: all of them, or those that follow the ones before.
 *
 * <p>As in CouchDB, a document that cannot be taken refuses the whole request. But replicators stop
 * for good when a request is refused, so what they bring fails alone, like a document in conflict.
 *
 * @param edits in the request's order
 * @param refused the documents that are not valid edits, in the request's order
 * @param newEdits false if the documents bring their own revisions
 * @param areLast whether no others follow
 */
public record BulkEdits(
    List<Edit> edits, List<RefusedEdit> refused, boolean newEdits, BulkMode mode, boolean areLast) {

  /** More documents would make an answer of 50 MB, and have hardly a hundred bytes each. */
  public static final int MAX_DOCUMENTS = 500_000;

  /** Returns the same with edits that are prepared. */
  public BulkEdits with(List<Edit> prepared) {
    return new BulkEdits(prepared, refused, newEdits, mode, areLast);
  }

  /**
   * Returns the same without edits of a client's that turned out to be refused.
   *
   * @param problems by their places in {@link #edits}
   * @throws LectusException one failure prevents all writes
   */
  public BulkEdits without(Map<Integer, LectusError> problems) {
    if (problems.isEmpty()) {
      return this;
    }
    if (mode != BulkMode.EACH_ALONE) {
      throw new LectusException(problems.values().iterator().next());
    }
    List<Edit> left = new ArrayList<>();
    List<RefusedEdit> all = new ArrayList<>();
    for (int number = 0; number < edits.size(); number++) {
      Edit edit = edits.get(number);
      LectusError problem = problems.get(number);
      if (problem == null) {
        left.add(edit);
      } else {
        all.add(new RefusedEdit(number, edit.id(), Optional.empty(), problem));
      }
    }
    return new BulkEdits(left, all, newEdits, mode, areLast);
  }

  public boolean isAtomic() {
    return mode == BulkMode.ATOMIC;
  }

  /** What happens to a request's other documents when one of them cannot be stored. */
  public enum BulkMode {
    /** The others are stored. */
    EACH_ALONE,

    /** None is stored. */
    ATOMIC,

    /** CouchDB's former mode of this name: nothing is ever stored. */
    ALL_OR_NOTHING
  }

  /**
   * A document of a bulk request that is not a valid edit, while the request goes on.
   *
   * @param place its index in the request, from 0
   * @param id as sent, or a new one if it had none
   * @param revision the revision that a replicator sent; empty if it is malformed
   */
  public record RefusedEdit(
      int place, String id, Optional<RevisionId> revision, LectusError error) {}
}
