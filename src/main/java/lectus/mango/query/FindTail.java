package lectus.mango.query;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.derived.IndexDefinition;
import lectus.derived.StoredIndex;
import lectus.json.JsonBuffer;
import lectus.mango.query.Planner.QueryPlan;

/** What follows the documents of an answer: the bookmark, figures and warnings. */
record FindTail(DatabaseHandle db, FindRequest request, QueryPlan plan, FindCursor cursor) {
  /** So many documents for each that is shown deserve a warning. */
  private static final long MUCH_EXAMINED = 10;

  void append(double elapsedMillis, JsonBuffer out) {
    out.ascii("\r\n],\r\n\"bookmark\": ").string(bookmark());
    if (request.options().stats()) {
      boolean isQuorum = request.quorum() > 1;
      out.ascii(",\r\n\"execution_stats\": {\"total_keys_examined\":").number(cursor.keys());
      out.ascii(",\"total_docs_examined\":").number(isQuorum ? 0 : cursor.documents());
      out.ascii(",\"total_quorum_docs_examined\":").number(isQuorum ? cursor.documents() : 0);
      out.ascii(",\"results_returned\":").number(cursor.results());
      out.ascii(",\"execution_time_ms\":").number(elapsedMillis).octet('}');
    }
    List<String> warnings = warnings();
    if (!warnings.isEmpty()) {
      out.ascii(",\r\n\"warning\": ").string(String.join("\n", warnings));
    }
    out.ascii("}\r\n");
  }

  private String bookmark() {
    Optional<StoredIndex> index = plan.candidate().index();
    return cursor
        .shown()
        .map(key -> Bookmark.text(db, index, key))
        .orElseGet(() -> request.bookmark().orElse("nil"));
  }

  /** Whether the index that the query names could not be used. */
  boolean isOtherIndex() {
    return !request.useIndex().isEmpty() && !plan.candidate().isNamed(request.useIndex());
  }

  boolean isUnindexed() {
    return plan.candidate().index().isEmpty();
  }

  boolean isMuchExamined() {
    return cursor.documents() > MUCH_EXAMINED * Math.max(1, cursor.results());
  }

  private List<String> warnings() {
    List<String> warnings = new ArrayList<>();
    if (isOtherIndex()) {
      warnings.add(
          Planner.wantedIndex(request)
              + (request.useIndex().size() < 2
                  ? " was not used because it does not contain a valid index for this query."
                  : " was not used because it is not a valid index for this query."));
    }
    if (isUnindexed()) {
      warnings.add("No matching index found, create an index to optimize query time.");
    }
    if (isMuchExamined()) {
      warnings.add(
          "The number of documents examined is high in proportion to the number of results"
              + " returned. Consider adding a more specific index to improve this.");
    }
    for (StoredIndex index : plan.building()) {
      IndexDefinition definition = index.definition();
      warnings.add(
          definition.design() + ", " + definition.name() + " is being built and was not used yet.");
    }
    return warnings;
  }
}
