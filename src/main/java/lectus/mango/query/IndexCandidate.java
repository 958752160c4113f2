package lectus.mango.query;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import lectus.derived.IndexDefinition;
import lectus.derived.NormalSelector;
import lectus.derived.StoredIndex;
import lectus.derived.ValueRange;
import lectus.mango.query.IndexRequest.DesignNames;

/**
 * What may serve a query.
 *
 * @param index empty: the list of all documents
 */
record IndexCandidate(Optional<StoredIndex> index) {
  private static final String ID = "_id";

  /** Why CouchDB would not use it, in its words; empty if it would. */
  List<String> objections(FindRequest request) {
    NormalSelector selector = request.normal();
    SortFields sort = request.sort();
    List<String> objections = new ArrayList<>();
    if (!mayLack(selector, sort).isEmpty() || lacksConflicts(request)) {
      objections.add("field_mismatch");
    }
    if (!canSort(selector, sort)) {
      objections.add("sort_order_mismatch");
    }
    return objections;
  }

  /** Returns a reason to think that documents which match are missing. */
  private Optional<String> mayLack(NormalSelector selector, SortFields sort) {
    boolean isComplete;
    if (index.isEmpty()) {
      isComplete = sort.fields().isEmpty() || selector.indexable().contains(ID);
    } else {
      Set<String> required = new TreeSet<>(columns());
      required.removeAll(sort.fields());
      required.removeAll(IndexDefinition.IN_EVERY_DOCUMENT);
      isComplete = selector.requires(required);
    }
    return isComplete ? Optional.empty() : Optional.of(name());
  }

  /** Documents have no conflicts in an index, as in CouchDB, but may in a query. */
  private boolean lacksConflicts(FindRequest request) {
    return request.conflicts()
        && index.filter(it -> it.definition().looksAt("_conflicts")).isPresent();
  }

  private boolean canSort(NormalSelector selector, SortFields sort) {
    List<String> columns = columns();
    List<String> wanted = sort.fields();
    if (wanted.isEmpty()) {
      return true;
    }
    int from = 0;
    while (from < columns.size() && !columns.get(from).equals(wanted.get(0))) {
      if (index.isEmpty() || !selector.isConstant(columns.get(from))) {
        return false;
      }
      from++;
    }
    return columns.size() - from >= wanted.size()
        && columns.subList(from, from + wanted.size()).equals(wanted);
  }

  List<String> columns() {
    return index.map(it -> it.definition().fields()).orElse(List.of(ID));
  }

  /** Returns the ranges of the first columns, up to the first column without one. */
  List<Optional<ValueRange>> prefix(Map<String, Optional<ValueRange>> ranges) {
    List<Optional<ValueRange>> prefix = new ArrayList<>();
    for (String column : columns()) {
      if (!ranges.containsKey(column)) {
        break;
      }
      prefix.add(ranges.get(column));
    }
    return prefix;
  }

  boolean isPartial() {
    return index.filter(it -> it.definition().filter().isPresent()).isPresent();
  }

  /** Whether it serves queries of one partition, or else those of all documents. */
  boolean isInScope(boolean ofPartition) {
    return index.map(it -> it.definition().partitioned() == ofPartition).orElse(true);
  }

  /** Whether it belongs to the design document, and has the name if there is one. */
  boolean isNamed(List<String> useIndex) {
    return index.isPresent()
        && !useIndex.isEmpty()
        && index.get().definition().design().equals(DesignNames.idOf(useIndex.get(0)))
        && (useIndex.size() < 2 || index.get().definition().name().equals(useIndex.get(1)));
  }

  /** Whether its entries have all of these fields. */
  boolean covers(Collection<String> fields) {
    Set<String> rest = new TreeSet<>(fields);
    rest.remove(ID);
    columns().forEach(rest::remove);
    return index.isPresent() && rest.isEmpty();
  }

  String design() {
    return index.map(it -> it.definition().design()).orElse("");
  }

  String name() {
    return index.map(it -> it.definition().name()).orElse("_all_docs");
  }
}
