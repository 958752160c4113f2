package lectus.changes.notify;

import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.store.Versionstamp;

/**
 * The databases that have something after a reader's position, ordered by the earliest point at
 * which each may have it. Only as many are kept as fit into memory. If there are more, the last
 * ones are dropped, and the reader has to look for them again when it reaches the {@link #horizon}.
 */
final class CandidateQueue {
  /** Nobody tells a source when it is no longer used. */
  private static final Cleaner CLEANER = Cleaner.create();

  /** This many may be kept even if memory is short; otherwise a reader would make no progress. */
  private static final int FEW = 1_024;

  /** Bytes of a candidate in memory beside its name, with its places in the two trees. */
  private static final int CANDIDATE_BYTES = 216;

  private static final int BYTES_WITHOUT_ANY = 256;

  private final DatabaseSet wanted;
  private final HeldBytes held;
  private final NavigableSet<Candidate> candidates =
      new TreeSet<>(
          Comparator.comparing(Candidate::atLeast)
              .thenComparing(Candidate::name)
              .thenComparing(Candidate::kind));

  /** Those for changes, of which each name has at most one. */
  private final Map<DatabaseName, Candidate> forChanges = new TreeMap<>();

  private long bytes = BYTES_WITHOUT_ANY;
  private Versionstamp horizon = Versionstamp.END;

  CandidateQueue(DatabaseSet wanted, CandidateMemory memory) {
    this.wanted = wanted;
    this.held = new HeldBytes(memory, new AtomicLong());
    held.become(bytes);
    CLEANER.register(this, held);
  }

  void drop() {
    candidates.clear();
    forChanges.clear();
    bytes = BYTES_WITHOUT_ANY;
    held.become(0);
  }

  /** Returns the point before which no candidate was dropped; END if none was. */
  Versionstamp horizon() {
    return horizon;
  }

  /**
   * Adds the next row of the updates log.
   *
   * @param knownTo everything before this point was delivered, or is among the candidates
   * @param position the reader's position: it may know databases created up to there
   */
  void add(DatabaseUpdate row, Versionstamp knownTo, Versionstamp position) {
    if (!wanted.contains(row.name())) {
      return;
    }
    switch (row.kind()) {
      case CREATED -> add(Candidate.somewhere(row.name(), row.at()));
      case UPDATED -> {
        if (!forChanges.containsKey(row.name())) {
          add(Candidate.somewhere(row.name(), knownTo));
        }
      }
      case DELETED -> {
        removeChanges(row.name());
        if (row.joined().compareTo(position) <= 0 && row.at().compareTo(position) > 0) {
          add(Candidate.end(row.name(), row.at()));
        }
      }
    }
  }

  /** A candidate for changes replaces the previous one of that name. */
  void add(Candidate candidate) {
    if (candidate.kind() != Candidate.Kind.END) {
      removeChanges(candidate.name());
    }
    if (candidate.atLeast().compareTo(horizon) < 0 && candidates.add(candidate)) {
      if (candidate.kind() != Candidate.Kind.END) {
        forChanges.put(candidate.name(), candidate);
      }
      count(candidate, 1);
    }
  }

  private void removeChanges(DatabaseName name) {
    Candidate known = forChanges.get(name);
    if (known != null) {
      remove(known);
    }
  }

  private void remove(Candidate candidate) {
    candidates.remove(candidate);
    if (candidate.kind() != Candidate.Kind.END) {
      forChanges.remove(candidate.name());
    }
    count(candidate, -1);
  }

  private void count(Candidate candidate, int sign) {
    bytes += (long) sign * (CANDIDATE_BYTES + candidate.name().text().length());
    held.become(bytes);
  }

  /** Returns the first; null if there is none before the horizon. */
  Candidate peek() {
    return candidates.isEmpty() ? null : candidates.first();
  }

  /** Removes and returns the first; null if there is none before the horizon. */
  Candidate poll() {
    Candidate first = peek();
    if (first != null) {
      remove(first);
    }
    return first;
  }

  /**
   * Removes and returns the first candidates, as long as the beginning of their changes is unknown.
   */
  List<Candidate> pollUnknown(int most) {
    List<Candidate> unknown = new ArrayList<>();
    while (unknown.size() < most && peek() != null && peek().kind() == Candidate.Kind.SOMEWHERE) {
      unknown.add(poll());
    }
    return unknown;
  }

  /** Whether all kept candidates are used up, but dropped ones may follow. */
  boolean isAtHorizon() {
    return candidates.isEmpty() && !horizon.equals(Versionstamp.END);
  }

  int size() {
    return candidates.size();
  }

  /**
   * Whether there are more than may be kept, also because memory is short.
   *
   * @param most how many may be kept if memory is not short
   */
  boolean areTooMany(int most) {
    return size() > most || (size() > FEW && held.memory().isShort());
  }

  /** Drops all but the first ones; those that begin where a dropped one does go with it. */
  void keepFirst(int count) {
    while (size() > count) {
      Candidate last = candidates.last();
      remove(last);
      horizon = last.atLeast();
    }
    while (!candidates.isEmpty() && candidates.last().atLeast().compareTo(horizon) >= 0) {
      remove(candidates.last());
    }
  }

  /** The bytes counted for a queue. They are given back when it is forgotten. */
  private record HeldBytes(CandidateMemory memory, AtomicLong bytes) implements Runnable {
    void become(long now) {
      memory.taken.addAndGet(now - bytes.getAndSet(now));
    }

    @Override
    public void run() {
      become(0);
    }
  }

  /**
   * A database that still has something to deliver: its changes, or its end.
   *
   * @param atLeast a lower bound of the point at which that lies
   */
  record Candidate(DatabaseName name, Kind kind, Versionstamp atLeast) {

    /** How precisely the point is known. */
    enum Kind {
      /** Changes; the first lies somewhere after the point. */
      SOMEWHERE,
      /** Changes; the first was at the point when last examined, and is there or later now. */
      CHANGES,
      /** The database's end, at the point. */
      END
    }

    static Candidate somewhere(DatabaseName name, Versionstamp atLeast) {
      return new Candidate(name, Kind.SOMEWHERE, atLeast);
    }

    static Candidate end(DatabaseName name, Versionstamp at) {
      return new Candidate(name, Kind.END, at);
    }

    static Candidate changes(DatabaseName name, Versionstamp first) {
      return new Candidate(name, Kind.CHANGES, first);
    }
  }

  /**
   * Counts the memory that all readers of a server use for candidates, some 240 bytes each. A part
   * is for the rows of the updates log that they share. Thread-safe.
   */
  static final class CandidateMemory {
    /** The rows of the log have one part in so many. */
    private static final int PART_OF_LOG = 4;

    private final long most;
    final AtomicLong taken = new AtomicLong();

    /**
     * @param most limit in bytes, of everything
     */
    CandidateMemory(long most) {
      this.most = most;
    }

    /** Whether readers that hold much should give some back. */
    boolean isShort() {
      return taken.get() > most - ofLog();
    }

    /** Returns the bytes that rows of the log may take. */
    long ofLog() {
      return most / PART_OF_LOG;
    }
  }
}
