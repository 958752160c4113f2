package lectus.feed.many;

import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import lectus.database.DatabaseUpdate;
import lectus.store.Versionstamp;

/**
 * Which databases have something behind a reader's position, in the order of the earliest point at
 * which each may have it. At most so many as fit into memory: of more those that come last are
 * forgotten, and the reader must look for them anew when it comes to the {@link #horizon}.
 */
final class Candidates {
  /** Nobody tells a source that it is of no use any more. */
  private static final Cleaner CLEANER = Cleaner.create();

  /** So many may be kept even if memory is short, or a reader would not come on. */
  private static final int FEW = 1_024;

  private final DatabaseSet wanted;
  private final Held held;
  private CandidateHeap heap = new CandidateHeap();
  private Versionstamp horizon = Versionstamp.END;

  /** Bytes that are counted for these candidates. */
  private static final class Held implements Runnable {
    private final CandidateMemory memory;
    private final AtomicLong bytes = new AtomicLong();

    Held(CandidateMemory memory) {
      this.memory = memory;
    }

    void become(long now) {
      long before = bytes.getAndSet(now);
      if (before != now) {
        memory.add(now - before);
      }
    }

    @Override
    public void run() {
      become(0);
    }
  }

  Candidates(DatabaseSet wanted, CandidateMemory memory) {
    this.wanted = wanted;
    this.held = new Held(memory);
    held.become(heap.bytes());
    CLEANER.register(this, held);
  }

  /** They are of no use any more. */
  void drop() {
    heap = new CandidateHeap();
    held.become(0);
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
      held.become(heap.bytes());
    } else if (candidate.kind() != Candidate.Kind.END) {
      heap.remove(candidate.name());
    }
  }

  /** The first; null if there is none before the horizon. */
  Candidate peek() {
    Candidate first = heap.first();
    return first != null && first.atLeast().compareTo(horizon) < 0 ? first : null;
  }

  /** Takes the first out; null if there is none before the horizon. */
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

  /** Takes out the first ones as long as it is not known where their changes begin. */
  List<Candidate> pollUnknown(int most) {
    List<Candidate> unknown = new ArrayList<>();
    while (unknown.size() < most && peek() != null && peek().kind() == Candidate.Kind.SOMEWHERE) {
      unknown.add(poll());
    }
    return unknown;
  }

  /** Whether there may be more, but none is left of those that were not forgotten. */
  boolean isAtHorizon() {
    return peek() == null && !horizon.equals(Versionstamp.END);
  }

  int size() {
    return heap.size();
  }

  /**
   * Whether there are more than may be kept, be it that memory is short.
   *
   * @param most how many may be kept if it is not
   */
  boolean areTooMany(int most) {
    return size() > most || size() > FEW && held.memory.isShort();
  }

  /**
   * Forgets those that come last.
   *
   * @param count how many stay
   */
  void keepFirst(int count) {
    Candidate forgotten = rebuild(count);
    if (forgotten != null) {
      horizon = forgotten.atLeast();
    }
  }

  /** The first of those that were left out; null if there was none. */
  private Candidate rebuild(int count) {
    CandidateHeap kept = new CandidateHeap();
    for (int i = Math.min(count, heap.size()); i > 0; i--) {
      kept.add(heap.poll());
    }
    Candidate next = heap.first();
    heap = kept;
    held.become(heap.bytes());
    return next;
  }
}
