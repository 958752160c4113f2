package lectus.feed.many;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.store.Versionstamp;

/**
 * Which databases have something behind a reader's position, in the order of the earliest point at
 * which each may have it. At most so many as fit into memory: of more those that come last are
 * forgotten, and the reader must look for them anew when it comes to the {@link #horizon}.
 */
final class Candidates {
  private static final Comparator<Candidate> EARLIEST_FIRST =
      Comparator.comparing(Candidate::atLeast);

  private final DatabaseSet wanted;
  private final PriorityQueue<Candidate> queue;

  /** The one candidate for changes of each name; others of that name in the queue are void. */
  private final Map<DatabaseName, Candidate> changes;

  private Versionstamp horizon;

  Candidates(DatabaseSet wanted) {
    this.wanted = wanted;
    this.queue = new PriorityQueue<>(EARLIEST_FIRST);
    this.changes = new HashMap<>();
    this.horizon = Versionstamp.END;
  }

  Candidates(Candidates other) {
    this.wanted = other.wanted;
    this.queue = new PriorityQueue<>(other.queue);
    this.changes = new HashMap<>(other.changes);
    this.horizon = other.horizon;
  }

  /** Nothing was forgotten that comes before this point; END if nothing was forgotten. */
  Versionstamp horizon() {
    return horizon;
  }

  /**
   * Takes in the next row of the updates log.
   *
   * @param knownTo what came before this point is told, or is among the candidates
   * @param position how far the reader has come: it may know databases created up to there
   */
  void add(DatabaseUpdate row, Versionstamp knownTo, Versionstamp position) {
    if (!wanted.contains(row.name())) {
      return;
    }
    switch (row.kind()) {
      case CREATED -> add(Candidate.somewhere(row.name(), row.instance(), row.at()));
      case UPDATED -> {
        Candidate known = changes.get(row.name());
        if (known == null || !known.instance().equals(row.instance())) {
          add(Candidate.somewhere(row.name(), row.instance(), knownTo));
        }
      }
      case DELETED -> {
        changes.remove(row.name());
        if (row.joined().compareTo(position) <= 0 && row.at().compareTo(position) > 0) {
          add(Candidate.end(row.name(), row.instance(), row.at()));
        }
      }
    }
  }

  void add(Candidate candidate) {
    if (candidate.atLeast().compareTo(horizon) >= 0) {
      drop(candidate);
      return;
    }
    if (candidate.kind() != Candidate.Kind.END) {
      changes.put(candidate.name(), candidate);
    }
    queue.add(candidate);
  }

  /** The first; null if there is none before the horizon. */
  Candidate peek() {
    while (!queue.isEmpty() && isVoid(queue.peek())) {
      queue.poll();
    }
    return queue.peek();
  }

  /** Takes the first out; null if there is none before the horizon. */
  Candidate poll() {
    Candidate first = peek();
    if (first != null) {
      queue.poll();
      drop(first);
    }
    return first;
  }

  /** Takes out the first ones as long as it is not known where their changes begin. */
  List<Candidate> pollUnknown(int most) {
    List<Candidate> unknown = new ArrayList<>();
    while (unknown.size() < most && peek() != null && peek().kind() == Candidate.Kind.SOMEWHERE) {
      unknown.add(poll());
    }
    return unknown;
  }

  private boolean isVoid(Candidate candidate) {
    return candidate.kind() != Candidate.Kind.END && changes.get(candidate.name()) != candidate;
  }

  private void drop(Candidate candidate) {
    changes.remove(candidate.name(), candidate);
  }

  /** Whether there may be more, but none is left of those that were not forgotten. */
  boolean isAtHorizon() {
    return peek() == null && !horizon.equals(Versionstamp.END);
  }

  /** Counts void ones, too. */
  int size() {
    return queue.size();
  }

  /**
   * Forgets those that come last.
   *
   * @param count how many stay
   */
  void keepFirst(int count) {
    List<Candidate> kept = new ArrayList<>(count);
    while (kept.size() < count && peek() != null) {
      kept.add(poll());
    }
    Optional.ofNullable(peek()).ifPresent(first -> horizon = first.atLeast());
    queue.clear();
    changes.clear();
    kept.forEach(this::add);
  }
}
