package lectus.changes.filter;

import com.apple.foundationdb.ReadTransaction;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.filter.FilterIndex.PageTime;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.derived.LeafRead.Extent;
import lectus.derived.Selector;
import lectus.document.PartsAhead;
import lectus.document.ReadAhead;
import lectus.document.read.SelectedDocuments;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * Filters entries whose documents match a selector. It reads ahead what the selector needs of many
 * documents at once, since most will not pass. If the store reads on the calling thread, another
 * thread helps.
 */
final class SelectedEntries extends PassingEntries {
  /** Maximum number of documents read ahead if the selector needs a few leaves of each. */
  private static final int MAX_AHEAD = 256;

  /** The same if it needs containers, which may be of any size. */
  private static final int MAX_CONTAINERS_AHEAD = 32;

  private static final int FIRST_AHEAD = 16;

  /** Number of separate parts into which the read-ahead is divided. */
  private static final int PARTS = 4;

  /** Bytes of keys and values after which a page ends, even if there is time for more. */
  static final long MAX_BYTES = 8_000_000;

  /**
   * A costly selector gives its thread to others in between, live tails above all. This time begins
   * with the first match. Otherwise a page on a store whose answers take longer would match that
   * one document and discard all that was read ahead.
   */
  private static final Duration TURN = Duration.ofMillis(50);

  private final ReadTransaction tx;
  private final List<ChangeEntry> entries;
  private final boolean allLeaves;
  private final Selector selector;
  private final SelectedDocuments documents;
  private final RevisionsSubspace revisions;
  private final ReadAhead ahead;
  private final PartsAhead<List<Started>> parts;
  private final Deque<Started> reading = new ArrayDeque<>();
  private PageTime turn;
  private int started;

  /**
   * @param branches all branches, if every leaf is matched; null if the winner is
   */
  private record Started(
      ChangeEntry entry,
      SelectedDocuments.Started winner,
      CompletableFuture<List<EditBranch>> branches) {}

  /**
   * @param allLeaves matches every leaf of a document and shows those that match
   */
  SelectedEntries(
      ReadTransaction tx,
      DatabaseHandle db,
      Selector selector,
      boolean allLeaves,
      List<ChangeEntry> entries) {
    this.tx = tx;
    this.entries = entries;
    this.allLeaves = allLeaves;
    this.selector = selector;
    this.documents = new SelectedDocuments(tx, db, selector.reads());
    this.revisions = new RevisionsSubspace(db);
    this.parts = new PartsAhead<>(tx.getExecutor());
    boolean containers = selector.reads().stream().anyMatch(it -> it.extent() == Extent.ALL);
    this.ahead = new ReadAhead(FIRST_AHEAD, containers ? MAX_CONTAINERS_AHEAD : MAX_AHEAD);
  }

  @Override
  boolean mayGoOn(int examined) {
    boolean isSpent = examined > 0 && (documents.bytesRead() >= MAX_BYTES || turn.isUp());
    return examined < entries.size() && !isSpent;
  }

  @Override
  Passing examine(int number) {
    Passing row = match(nextStarted());
    turn = number == 0 ? new PageTime(TURN) : turn;
    ahead.took(number + 1, documents.bytesRead());
    return row;
  }

  @Override
  void done() {
    parts.cancel();
  }

  private Started nextStarted() {
    if (reading.isEmpty()) {
      startAhead();
      reading.addAll(parts.take());
    }
    return reading.remove();
  }

  private void startAhead() {
    int size = Math.max(1, ahead.size() / PARTS);
    while (parts.size() < PARTS && started < entries.size()) {
      int end = Math.min(entries.size(), started + size);
      List<ChangeEntry> part = entries.subList(started, end);
      parts.add(() -> part.stream().map(this::start).toList());
      started = end;
    }
  }

  private Started start(ChangeEntry entry) {
    return allLeaves && entry.branchCount() > 1
        ? new Started(entry, null, revisions.branches(tx, entry.docId()))
        : new Started(entry, documents.start(entry.docId(), entry.deleted(), entry.winner()), null);
  }

  /** Returns null if no leaf passes. */
  private Passing match(Started document) {
    if (document.branches() == null) {
      return documents.matches(selector, document.winner())
          ? new Passing(document.entry(), Optional.empty())
          : null;
    }
    List<RevisionId> passing = matching(document.entry(), Awaiting.await(document.branches()));
    return passing.isEmpty() ? null : new Passing(document.entry(), Optional.of(passing));
  }

  private List<RevisionId> matching(ChangeEntry entry, List<EditBranch> branches) {
    List<SelectedDocuments.Started> leaves = new ArrayList<>(branches.size());
    for (EditBranch branch : branches) {
      leaves.add(documents.start(entry.docId(), branch.deleted(), branch.leaf()));
    }
    List<RevisionId> passing = new ArrayList<>();
    for (int i = 0; i < branches.size(); i++) {
      if (documents.matches(selector, leaves.get(i))) {
        passing.add(branches.get(i).leaf());
      }
    }
    return passing;
  }
}
