package lectus.document.edit;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.revision.RevisionId;

/**
 * Edits of a {@code _bulk_docs} request: all of them, or those that follow the ones before.
 *
 * <p>As in CouchDB, a malformed document refuses the whole request. But replicators stop for good
 * when a request is refused, so what they bring fails alone, like a document in conflict; and so
 * does a document that is only too large, whoever sends it, since a client cannot know all limits.
 * A request of which no document could be stored is refused if it does not come from a replicator.
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
   * Returns the same without edits that turned out to be refused.
   *
   * @param problems by their places in {@link #edits}
   * @throws LectusException one failure prevents all writes
   */
  public BulkEdits without(Map<Integer, LectusError> problems) {
    if (mode != BulkMode.EACH_ALONE && !problems.isEmpty()) {
      throw new LectusException(problems.values().iterator().next());
    }
    List<Edit> left = new ArrayList<>();
    List<RefusedEdit> all = new ArrayList<>();
    Iterator<RefusedEdit> before = refused.iterator();
    Optional<RefusedEdit> next = next(before);
    for (int number = 0; number < edits.size(); number++) {
      while (next.isPresent() && next.get().place() == left.size() + all.size()) {
        all.add(next.get());
        next = next(before);
      }
      Edit edit = edits.get(number);
      LectusError problem = problems.get(number);
      if (problem == null) {
        left.add(edit);
      } else {
        all.add(new RefusedEdit(left.size() + all.size(), edit.id(), Optional.empty(), problem));
      }
    }
    next.ifPresent(all::add);
    before.forEachRemaining(all::add);
    return new BulkEdits(left, all, newEdits, mode, areLast);
  }

  private static Optional<RefusedEdit> next(Iterator<RefusedEdit> refused) {
    return refused.hasNext() ? Optional.of(refused.next()) : Optional.empty();
  }

  public boolean isAtomic() {
    return mode == BulkMode.ATOMIC;
  }

  void requireWorthwhile() {
    boolean refusesAll = mode != BulkMode.EACH_ALONE || (newEdits && edits.isEmpty());
    if (refusesAll && !refused.isEmpty()) {
      throw new LectusException(refused.get(0).error());
    }
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
