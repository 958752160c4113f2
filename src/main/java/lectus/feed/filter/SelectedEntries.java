package lectus.feed.filter;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.document.PartsAhead;
import lectus.document.body.ReadAhead;
import lectus.document.read.SelectedDocuments;
import lectus.feed.PageTime;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.selector.Extent;
import lectus.selector.Selector;
import lectus.store.Reads;

/**
 * Entries whose documents match a selector. What it looks at is read of many documents at once,
 * ahead of the one that is matched, since most will not pass; where the store reads on the calling
 * thread, another one helps.
 */
final class SelectedEntries implements PassingEntries {
  /** Documents read ahead where the selector looks at a few leaves of each. */
  private static final int MOST_AHEAD = 256;

  /** The same where it looks at containers, which may be of any size. */
  private static final int MOST_CONTAINERS_AHEAD = 32;

  private static final int FIRST_AHEAD = 16;

  /** So many parts of what is read ahead are begun apart. */
  private static final int PARTS = 4;

  /** Bytes of keys and values after which a page ends, were there time for more. */
  static final long MOST_BYTES = 8_000_000;

  private final ReadTransaction tx;
  private final List<ChangeEntry> entries;
  private final boolean allLeaves;
  private final Selector selector;
  private final SelectedDocuments documents;
  private final RevisionsSubspace revisions;
  private final ReadAhead ahead;
  private final PartsAhead<List<Started>> parts;
  private final Deque<Started> reading = new ArrayDeque<>();
  private final PageTime time = new PageTime();
  private int started;
  private int matched;
  private int lookedAt;
  private Passing next;

  /**
   * @param branches of a document whose leaves are all matched; null where the winner is
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
    this.ahead = new ReadAhead(FIRST_AHEAD, containers ? MOST_CONTAINERS_AHEAD : MOST_AHEAD);
  }

  @Override
  public boolean hasNext() {
    while (next == null && mayGoOn()) {
      next = match(nextStarted());
      matched++;
      ahead.took(matched, documents.bytesRead());
    }
    if (next == null) {
      parts.cancel();
      lookedAt = matched;
    }
    return next != null;
  }

  private boolean mayGoOn() {
    boolean isSpent = matched > 0 && (documents.bytesRead() >= MOST_BYTES || time.isUp());
    return matched < entries.size() && !isSpent;
  }

  @Override
  public Passing next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    Passing passing = next;
    next = null;
    lookedAt = matched;
    return passing;
  }

  @Override
  public int lookedAt() {
    return lookedAt;
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

  /** Null where no leaf passes. */
  private Passing match(Started document) {
    if (document.branches() == null) {
      return documents.matches(selector, document.winner())
          ? new Passing(document.entry(), Optional.empty())
          : null;
    }
    List<RevisionId> passing = matching(document.entry(), Reads.await(document.branches()));
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
