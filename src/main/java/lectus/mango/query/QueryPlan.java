package lectus.mango.query;

import java.util.List;
import java.util.Optional;
import lectus.derived.StoredIndex;
import lectus.mango.selector.ValueRange;

/**
 * What serves a query, and why nothing else does.
 *
 * @param chosen empty: nothing can
 * @param prefix the ranges of its first columns
 * @param rejected all other candidates
 * @param building indexes that are not looked at yet
 */
record QueryPlan(
    Optional<IndexCandidate> chosen,
    List<ValueRange> prefix,
    boolean isEmpty,
    List<Rejected> rejected,
    List<StoredIndex> building) {
  /**
   * A candidate that was not chosen.
   *
   * @param reason in CouchDB's words
   * @param ranking 1 for the best of them
   */
  record Rejected(IndexCandidate candidate, boolean isUsable, String reason, int ranking) {}

  IndexCandidate candidate() {
    return chosen.orElseThrow();
  }
}
