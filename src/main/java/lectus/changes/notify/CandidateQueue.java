package lectus.changes.notify;

import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.List;
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
  /** This many may be kept even if memory is short; otherwise a reader would make no progress. */
  private static final int FEW = 1_024;

  private final DatabaseSet wanted;
  private final HeldBytes held;
  private CandidateHeap heap = new CandidateHeap();
  private Versionstamp horizon = Versionstamp.END;

  CandidateQueue(DatabaseSet wanted, CandidateMemory memory) {
    this.wanted = wanted;
    this.held = new HeldBytes(this, memory);
    held.count.become(heap.bytes());
  }

  /** Discards all candidates. */
  void drop() {
    heap = new CandidateHeap();
    held.count.become(0);
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
        if (!heap.hasChanges(row.name())) {
          add(Candidate.somewhere(row.name(), knownTo));
        }
      }
      case DELETED -> {
        heap.remove(row.name());
        if (row.joined().compareTo(position) <= 0 && row.at().compareTo(position) > 0) {
          add(Candidate.end(row.name(), row.at()));
        }
      }
    }
  }

  void add(Candidate candidate) {
    if (candidate.atLeast().compareTo(horizon) < 0) {
      heap.add(candidate);
      held.count.become(heap.bytes());
    } else if (candidate.kind() != Candidate.Kind.END) {
      heap.remove(candidate.name());
    }
  }

  /** Returns the first; null if there is none before the horizon. */
  Candidate peek() {
    Candidate first = heap.first();
    return first != null && first.atLeast().compareTo(horizon) < 0 ? first : null;
  }

  /** Removes and returns the first; null if there is none before the horizon. */
  Candidate poll() {
    Candidate first = peek();
    if (first != null) {
      heap.poll();
      if (heap.isMostlyEmpty()) {
        rebuild(heap.size());
      }
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
    return peek() == null && !horizon.equals(Versionstamp.END);
  }

  int size() {
    return heap.size();
  }

  /**
   * Whether there are more than may be kept, also because memory is short.
   *
   * @param most how many may be kept if memory is not short
   */
  boolean areTooMany(int most) {
    return size() > most || (size() > FEW && held.isMemoryShort());
  }

  /**
   * Drops the last candidates.
   *
   * @param count how many to keep
   */
  void keepFirst(int count) {
    Candidate forgotten = rebuild(count);
    if (forgotten != null) {
      horizon = forgotten.atLeast();
    }
  }

  /** Returns the first dropped candidate; null if none was dropped. */
  private Candidate rebuild(int count) {
    CandidateHeap kept = new CandidateHeap();
    for (int i = Math.min(count, heap.size()); i > 0; i--) {
      kept.add(heap.poll());
    }
    Candidate next = heap.first();
    heap = kept;
    held.count.become(heap.bytes());
    return next;
  }

  /**
   * The bytes counted for something that a reader keeps. They are given back when their owner is
   * forgotten, because nobody tells a source when it is no longer used. Thread-safe.
   */
  private static final class HeldBytes {
    private static final Cleaner CLEANER = Cleaner.create();

    private final Count count;

    private record Count(CandidateMemory memory, AtomicLong bytes) implements Runnable {
      void become(long now) {
        long before = bytes.getAndSet(now);
        if (before != now) {
          memory.taken.addAndGet(now - before);
        }
      }

      @Override
      public void run() {
        become(0);
      }
    }

    /**
     * @param owner must be referred to by nothing that this refers to
     */
    HeldBytes(Object owner, CandidateMemory memory) {
      this.count = new Count(memory, new AtomicLong());
      CLEANER.register(owner, count);
    }

    /** Whether all readers together hold more than they may. */
    boolean isMemoryShort() {
      return count.memory().isShort();
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
   * Counts the memory that all readers of a server use for candidates, about sixty bytes each. A
   * part is for the rows of the updates log that they share. Thread-safe.
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
