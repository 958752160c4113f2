package lectus.changes.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import lectus.changes.filter.FunctionFilter;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.page.LivePage.TailPage;
import lectus.changes.page.LivePage.View;
import lectus.changes.page.LivePage.ViewPage;
import lectus.changes.page.PageReader.EntryShow;
import lectus.changes.page.Rows.RowsBuilder;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.document.AttachmentsShown;
import lectus.document.read.LeafDocuments;
import lectus.error.LectusError;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.script.Outcome;
import lectus.store.Awaiting;

/**
 * The documents of a page that a function filters. They are read in the page's transaction, beside
 * rows for all of them. When that is over the function is asked, and the rows of documents that it
 * does not want are left out. Nobody waits meanwhile, and what a page holds is counted.
 */
final class AskedDocuments {
  /** The most entries of a page. */
  static final int MOST = 200;

  /** Bytes of JSON after which no further document is read for a page. */
  private static final int MOST_BYTES = 1 << 20;

  /** The most bytes of JSON of one document's leaves. */
  private static final int MOST_BYTES_OF_LEAVES = 16 << 20;

  /** Number of entries whose reads are started together. */
  private static final int TOGETHER = 32;

  /** A page ends with the document that the function is asked about then. */
  private static final long MOST_MILLIS = 2_000;

  private static final LectusError TOO_LARGE =
      new LectusError.FunctionFailed(
          "function_failed",
          "The leaves of the next document take more than "
              + (MOST_BYTES_OF_LEAVES >> 20)
              + " MB; a function cannot be asked about them.");

  private static final byte[] TRUE = FeedText.ascii("true");
  private static final byte[] TOUCHED = FeedText.ascii("\"touched\":true");
  private static final byte[] PASSES = FeedText.ascii("\"result\":true");

  private final FunctionFilter filter;
  private final boolean allLeaves;
  private final List<Entry> entries = new ArrayList<>();
  private long bytes;

  /**
   * @param allLeaves whether the function is asked about every leaf of a document, or its winner
   */
  AskedDocuments(FunctionFilter filter, boolean allLeaves) {
    this.filter = filter;
    this.allLeaves = allLeaves;
  }

  /** Others ask so much that a page has to be read again later. */
  static final class TooBusy extends RuntimeException {
    private static final long serialVersionUID = 1;

    TooBusy() {
      super("Functions are asked about too many documents", null, false, false);
    }
  }

  /**
   * @param leaves the leaves that the function is asked about, the winner first
   * @param documents their JSON; none if it would take too much memory
   */
  private record Entry(Sequence sequence, List<RevisionId> leaves, List<byte[]> documents) {}

  /** Returns what shows entries as rows, after it has read their documents: as many as fit. */
  EntryShow before(ReadTransaction tx, DatabaseHandle db, EntryShow rows) {
    return (read, departures, limit) -> {
      read(tx, db, read.subList(0, Math.min(MOST, read.size())));
      // How many of them are rows is not known yet.
      long most = limit == 0 ? 0 : ChangesReader.NO_LIMIT;
      PageRows.Progress progress = rows.append(read.subList(0, entries.size()), departures, most);
      entries.subList(progress.lookedAt(), entries.size()).clear();
      return progress;
    };
  }

  private void read(ReadTransaction tx, DatabaseHandle db, List<ChangeEntry> read) {
    entries.clear();
    bytes = 0;
    RevisionsSubspace revisions = new RevisionsSubspace(db);
    LeafDocuments documents = new LeafDocuments(tx, db, List.of(), AttachmentsShown.STUBS);
    for (int from = 0; from < read.size() && bytes < MOST_BYTES; from += TOGETHER) {
      List<ChangeEntry> together = read.subList(from, Math.min(read.size(), from + TOGETHER));
      List<CompletableFuture<List<EditBranch>>> branches =
          together.stream().map(it -> revisions.branches(tx, it.docId())).toList();
      List<LeafDocuments.Started> winners =
          together.stream()
              .map(it -> documents.start(it.docId(), it.deleted(), it.winner()))
              .toList();
      for (int i = 0; i < together.size() && bytes < MOST_BYTES; i++) {
        add(together.get(i), Awaiting.await(branches.get(i)), winners.get(i), documents);
      }
    }
  }

  private void add(
      ChangeEntry entry,
      List<EditBranch> branches,
      LeafDocuments.Started winner,
      LeafDocuments documents) {
    List<RevisionId> leaves = new ArrayList<>();
    List<byte[]> jsons = new ArrayList<>();
    long before = bytes;
    // As in CouchDB, a leaf among others does not show that it is in conflict with them.
    List<EditBranch> conflicts = allLeaves ? List.of() : branches;
    for (EditBranch branch : allLeaves ? branches : branches.subList(0, 1)) {
      LeafDocuments.Started leaf =
          leaves.isEmpty()
              ? winner
              : documents.start(entry.docId(), branch.deleted(), branch.leaf());
      JsonBuffer json = new JsonBuffer(1_024);
      documents.appendForFunction(leaf, branch, conflicts, json);
      leaves.add(branch.leaf());
      jsons.add(json.toBytes());
      bytes += json.length();
      if (bytes - before > MOST_BYTES_OF_LEAVES && leaves.size() > 1) {
        jsons.clear();
        break;
      }
    }
    entries.add(new Entry(entry.sequence(), leaves, jsons));
  }

  /** Returns the page with the rows that the function wants. */
  <P extends ResumePoint<P>> CompletableFuture<LivePage<P>> judge(LivePage<P> page, P from) {
    return judge(page.rows().json().length, verdicts -> verdicts.of(page, from));
  }

  CompletableFuture<TailPage<FeedPosition>> judge(TailPage<FeedPosition> page) {
    long bytesOfRows =
        page.views().values().stream()
            .mapToLong(it -> it instanceof ViewPage.Shown<?> some ? some.rows().json().length : 0)
            .max()
            .orElse(0);
    return judge(bytesOfRows, verdicts -> verdicts.of(page));
  }

  private <T> CompletableFuture<T> judge(long bytesOfRows, Function<Verdicts, T> shown) {
    if (entries.isEmpty()) {
      return CompletableFuture.completedFuture(shown.apply(new Verdicts(entries)));
    }
    long held = bytes + bytesOfRows;
    if (!filter.memory().tryReserve(held, 0)) {
      throw new TooBusy();
    }
    CompletableFuture<T> judged = new CompletableFuture<>();
    try {
      List<byte[]> documents = entries.stream().flatMap(it -> it.documents().stream()).toList();
      List<CompletableFuture<Outcome>> answers = filter.ask(documents);
      endInTime(answers);
      CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
          .whenComplete(
              (all, given) -> {
                filter.memory().release(held, held);
                complete(judged, answers, shown);
              });
      judged.whenComplete((page, failure) -> answers.forEach(it -> it.cancel(false)));
    } catch (Throwable failure) {
      filter.memory().release(held, held);
      throw failure;
    }
    return judged;
  }

  /** Whoever waits for a page learns how far it has come; and nothing counts behind a failure. */
  private static void endInTime(List<CompletableFuture<Outcome>> answers) {
    for (int i = 0; i < answers.size(); i++) {
      List<CompletableFuture<Outcome>> later = answers.subList(i + 1, answers.size());
      answers
          .get(i)
          .thenAccept(
              it -> {
                if (!(it instanceof Outcome.Value)) {
                  later.forEach(behind -> behind.cancel(false));
                }
              });
    }
    if (answers.stream().allMatch(CompletableFuture::isDone)) {
      return;
    }
    CompletableFuture.delayedExecutor(MOST_MILLIS, TimeUnit.MILLISECONDS, Runnable::run)
        .execute(
            () ->
                answers.stream()
                    .filter(it -> !it.isDone())
                    .skip(1)
                    .forEach(it -> it.cancel(false)));
  }

  private <T> void complete(
      CompletableFuture<T> judged,
      List<CompletableFuture<Outcome>> answers,
      Function<Verdicts, T> shown) {
    try {
      judged.complete(shown.apply(verdicts(answers)));
    } catch (Throwable failure) {
      judged.completeExceptionally(failure);
    }
  }

  private Verdicts verdicts(List<CompletableFuture<Outcome>> answers) {
    Verdicts verdicts = new Verdicts(entries);
    int next = 0;
    for (Entry entry : entries) {
      int end = next + entry.documents().size();
      if (!verdicts.add(entry, answers.subList(next, end))) {
        break;
      }
      next = end;
    }
    if (verdicts.touched) {
      filter.becomesPersonal();
    }
    if (!verdicts.passing.isEmpty()) {
      filter.answers();
    } else if (verdicts.isRefused && filter.mayAskAgain()) {
      throw new TooBusy();
    }
    return verdicts;
  }

  /** What the function said, of as many entries as it was asked about. */
  private static final class Verdicts {
    private final List<Entry> entries;
    private final List<List<RevisionId>> passing = new ArrayList<>();
    private Optional<FeedEnd> failure = Optional.empty();
    private boolean touched;

    /** Whether no function could be run for the next entry. */
    private boolean isRefused;

    Verdicts(List<Entry> entries) {
      this.entries = entries;
    }

    /** Returns false if the page ends before the entry. */
    boolean add(Entry entry, List<CompletableFuture<Outcome>> answers) {
      if (answers.isEmpty()) {
        failure = Optional.of(new FeedEnd.FilterFailed(TOO_LARGE));
        return false;
      }
      List<RevisionId> leaves = new ArrayList<>();
      for (int i = 0; i < answers.size(); i++) {
        CompletableFuture<Outcome> answer = answers.get(i);
        if (answer.isCompletedExceptionally()) {
          return false;
        }
        Outcome outcome = answer.getNow(null);
        if (!(outcome instanceof Outcome.Value value)) {
          isRefused = outcome instanceof Outcome.Failed failed && !failed.isOfCall();
          failure =
              isRefused && !passing.isEmpty()
                  ? Optional.empty()
                  : outcome.failure().map(FeedEnd.FilterFailed::new);
          return false;
        }
        if (passes(value.json())) {
          leaves.add(entry.leaves().get(i));
        }
      }
      passing.add(leaves);
      return true;
    }

    private boolean passes(byte[] answer) {
      boolean looked = indexOf(answer, TOUCHED, 0) >= 0;
      touched |= looked;
      return looked ? indexOf(answer, PASSES, 0) >= 0 : Arrays.equals(answer, TRUE);
    }

    private boolean areAll() {
      return passing.size() == entries.size();
    }

    <P extends ResumePoint<P>> LivePage<P> of(LivePage<P> page, P from) {
      Rows<P> rows = of(page.rows());
      // As in CouchDB, what the function does not want is pending, too.
      long pending = rows.size() == page.rows().size() ? page.pending() : LivePage.NOT_COUNTED;
      if (areAll()) {
        return new LivePage<>(
            rows, page.next(), page.reachedEnd(), pending, page.end(), page.readers());
      }
      P next = passing.isEmpty() ? from : page.rows().at(passing.size() - 1);
      return new LivePage<>(rows, next, false, LivePage.NOT_COUNTED, failure, page.readers());
    }

    /**
     * A function that has looked at what only one request has is asked by each listener for itself.
     */
    TailPage<FeedPosition> of(TailPage<FeedPosition> page) {
      Map<View, ViewPage<FeedPosition>> views = new HashMap<>();
      Map<Rows<FeedPosition>, Rows<FeedPosition>> known = new IdentityHashMap<>();
      page.views()
          .forEach(
              (view, shown) -> {
                if (touched) {
                  views.put(view, new ViewPage.Crowded<>());
                } else if (shown instanceof ViewPage.Shown<FeedPosition> some) {
                  Rows<FeedPosition> rows = known.computeIfAbsent(some.rows(), this::of);
                  if (!rows.isEmpty()) {
                    views.put(view, new ViewPage.Shown<>(rows));
                  }
                } else {
                  views.put(view, shown);
                }
              });
      if (areAll() || touched) {
        return new TailPage<>(
            page.from(), views, page.next(), page.reachedEnd(), page.end(), page.readers());
      }
      FeedPosition next =
          passing.isEmpty()
              ? page.from()
              : page.from().movedTo(entries.get(passing.size() - 1).sequence());
      return new TailPage<>(page.from(), views, next, false, failure, page.readers());
    }

    private <P extends ResumePoint<P>> Rows<P> of(Rows<P> rows) {
      RowsBuilder<P> shown = new RowsBuilder<>(512);
      for (int row = 0; row < Math.min(rows.size(), passing.size()); row++) {
        if (!passing.get(row).isEmpty()) {
          append(rows, row, shown.json());
          shown.endRow(rows.at(row));
        }
      }
      return shown.build();
    }

    /** Only leaves that pass are among a row's changes. */
    private void append(Rows<?> rows, int row, JsonBuffer out) {
      byte[] json = rows.json();
      int from = rows.start(row);
      if (passing.get(row).size() < entries.get(row).leaves().size()) {
        byte[] all = RowWriter.changes(entries.get(row).leaves());
        int begin = indexOf(json, all, from);
        out.raw(json, from, begin).raw(RowWriter.changes(passing.get(row)));
        from = begin + all.length;
      }
      out.raw(json, from, rows.end(row));
    }
  }

  private static int indexOf(byte[] within, byte[] some, int from) {
    for (int at = from; at <= within.length - some.length; at++) {
      if (Arrays.equals(within, at, at + some.length, some, 0, some.length)) {
        return at;
      }
    }
    return -1;
  }
}
