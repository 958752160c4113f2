package lectus.mango.query;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import lectus.database.DatabaseHandle;
import lectus.derived.StoredIndex;
import lectus.derived.ValueRange;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.mango.query.Planner.QueryPlan.Rejected;

/**
 * Chooses what serves a query as CouchDB does: of the indexes that have every document which can
 * match, and the order that is asked for, the one whose first columns the selector narrows most.
 */
final class Planner {
  private final DatabaseHandle db;
  private final FindRequest request;
  private final List<IndexCandidate> all = new ArrayList<>();
  private final List<Rejected> rejected = new ArrayList<>();
  private final List<List<Rejected>> tiers = new ArrayList<>();

  private Planner(DatabaseHandle db, FindRequest request, Predicate<StoredIndex> considered) {
    this.db = db;
    this.request = request;
    all.add(new IndexCandidate(Optional.empty()));
    IndexListJson.inOrder(db).stream()
        .filter(considered)
        .forEach(index -> all.add(new IndexCandidate(Optional.of(index))));
  }

  /**
   * @throws LectusException {@code no_usable_index}, {@code invalid_index}; {@link
   *     LectusError.NotYet} if an index that is being built would serve
   */
  static QueryPlan toFind(DatabaseHandle db, FindRequest request) {
    try {
      return ofReadable(db, request).serving();
    } catch (LectusException none) {
      throw isBeingBuilt(db, request) ? notYet(none.error()) : none;
    }
  }

  private static Planner ofReadable(DatabaseHandle db, FindRequest request) {
    return new Planner(db, request, StoredIndex::isReadable);
  }

  private static boolean isBeingBuilt(DatabaseHandle db, FindRequest request) {
    try {
      return !db.indexes().all().stream().allMatch(StoredIndex::isReadable)
          && new Planner(db, request, index -> true).serving().chosen().isPresent();
    } catch (LectusException none) {
      return false;
    }
  }

  private static LectusException notYet(LectusError none) {
    return new LectusException(
        new LectusError.NotYet(
            none.error(), none.reason() + " An index that would serve is being built."));
  }

  private QueryPlan serving() {
    QueryPlan plan = plan();
    if (plan.chosen().isEmpty()) {
      throw noUsableIndex(db, request);
    }
    return plan;
  }

  /** As above, but nothing need be usable. */
  static QueryPlan toExplain(DatabaseHandle db, FindRequest request) {
    return ofReadable(db, request).plan();
  }

  private static LectusException noUsableIndex(DatabaseHandle db, FindRequest request) {
    String kind =
        !db.configuration().partitioned()
            ? "No index"
            : request.partition().isPresent() ? "No partitioned index" : "No global index";
    return LectusException.badRequest(
        "no_usable_index", kind + " exists for this sort, try indexing by the sort fields.");
  }

  private QueryPlan plan() {
    List<IndexCandidate> usable = usable();
    List<IndexCandidate> wanted =
        usable.stream().filter(it -> it.isNamed(request.useIndex())).toList();
    if (wanted.isEmpty()) {
      checkFallback(usable);
    }
    List<IndexCandidate> filtered = wanted.isEmpty() ? usable : wanted;
    tier(usable, filtered, true, "excluded_by_user");
    boolean anyIndex = filtered.stream().anyMatch(it -> it.index().isPresent());
    List<IndexCandidate> ofKind =
        filtered.stream().filter(it -> it.index().isPresent() == anyIndex).toList();
    tier(filtered, ofKind, true, "unfavored_type");
    return choose(ofKind);
  }

  /** Those that serve the query at all; the others are rejected in the order of CouchDB's steps. */
  private List<IndexCandidate> usable() {
    List<IndexCandidate> whole =
        all.stream().filter(it -> !it.isPartial() || it.isNamed(request.useIndex())).toList();
    tier(all, whole, false, "is_partial");
    boolean ofPartition = request.partition().isPresent();
    List<IndexCandidate> inScope = whole.stream().filter(it -> it.isInScope(ofPartition)).toList();
    tier(whole, inScope, false, "scope_mismatch");
    List<IndexCandidate> usable = new ArrayList<>();
    List<Rejected> unusable = new ArrayList<>();
    for (IndexCandidate candidate : inScope) {
      List<String> objections = candidate.objections(request);
      if (objections.isEmpty()) {
        usable.add(candidate);
      } else {
        unusable.add(new Rejected(candidate, false, objections.get(0), 0));
      }
    }
    tiers.add(unusable);
    return usable;
  }

  private void tier(
      List<IndexCandidate> from, List<IndexCandidate> to, boolean isUsable, String reason) {
    tiers.add(
        from.stream()
            .filter(it -> !to.contains(it))
            .map(it -> new Rejected(it, isUsable, reason, 0))
            .toList());
  }

  private void checkFallback(List<IndexCandidate> usable) {
    boolean isUnnamed = request.useIndex().isEmpty();
    if (request.options().mayFallBack() || (isUnnamed && usable.size() > 1)) {
      return;
    }
    if (isUnnamed) {
      throw LectusException.badRequest(
          "invalid_index", "You must specify an index with the `use_index` parameter.");
    }
    throw LectusException.badRequest(
        "invalid_index",
        wantedIndex(request)
            + " specified by `use_index` could not be found or it is not suitable.");
  }

  /** Returns how CouchDB names what {@code use_index} names. */
  static String wantedIndex(FindRequest request) {
    String design = "_design/" + request.wantedDesign();
    return request.useIndex().size() < 2 ? design : design + ", " + request.useIndex().get(1);
  }

  private record Ranked(
      IndexCandidate candidate, List<Optional<ValueRange>> prefix, int distance) {}

  private QueryPlan choose(List<IndexCandidate> candidates) {
    List<StoredIndex> building =
        db.indexes().all().stream().filter(it -> !it.isReadable()).toList();
    List<Ranked> ranked = ranked(candidates);
    rejectOthers(ranked);
    if (ranked.isEmpty()) {
      return new QueryPlan(Optional.empty(), List.of(), false, rejected, building);
    }
    Ranked best = ranked.get(0);
    boolean isEmpty =
        request.normal().isVoid() || best.prefix().stream().anyMatch(Optional::isEmpty);
    return new QueryPlan(
        Optional.of(best.candidate()),
        isEmpty ? List.of() : best.prefix().stream().map(Optional::orElseThrow).toList(),
        isEmpty,
        rejected,
        building);
  }

  private List<Ranked> ranked(List<IndexCandidate> candidates) {
    Map<String, Optional<ValueRange>> ranges = new LinkedHashMap<>(request.normal().ranges());
    boolean isOfAllDocs = candidates.stream().anyMatch(it -> it.index().isEmpty());
    if (isOfAllDocs) {
      ranges.putIfAbsent("_id", Optional.of(ValueRange.ALL));
    }
    return candidates.stream()
        .map(
            it -> {
              List<Optional<ValueRange>> prefix = it.prefix(ranges);
              return new Ranked(it, prefix, ranges.size() - prefix.size());
            })
        .sorted(
            Comparator.comparingInt(Ranked::distance)
                .thenComparingInt(it -> it.candidate().columns().size())
                .thenComparing(it -> it.candidate().design())
                .thenComparing(it -> it.candidate().name()))
        .toList();
  }

  private void rejectOthers(List<Ranked> ranked) {
    int ranking = 0;
    for (Ranked other : ranked.subList(Math.min(1, ranked.size()), ranked.size())) {
      boolean isWider =
          other.candidate().columns().size() > ranked.get(0).candidate().columns().size();
      String reason =
          other.distance() > 0
              ? "less_overlap"
              : isWider ? "too_many_fields" : "alphabetically_comes_after";
      rejected.add(new Rejected(other.candidate(), true, reason, ++ranking));
    }
    int rank = Math.max(1, ranked.size());
    for (int i = tiers.size() - 1; i >= 0; i--) {
      int itsRank = rank;
      tiers
          .get(i)
          .forEach(
              it ->
                  rejected.add(new Rejected(it.candidate(), it.isUsable(), it.reason(), itsRank)));
      rank += tiers.get(i).isEmpty() ? 0 : 1;
    }
  }

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
  }
}
