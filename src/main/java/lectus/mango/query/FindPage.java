package lectus.mango.query;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import lectus.database.DatabaseHandle;
import lectus.derived.NormalSelector;
import lectus.derived.StoredIndex;
import lectus.derived.rows.IndexEntriesSubspace;
import lectus.document.AttachmentsShown;
import lectus.document.DocumentId;
import lectus.document.ReadAhead;
import lectus.document.read.AllDocsSubspace;
import lectus.document.read.AllDocsSubspace.AllDocsRow;
import lectus.document.read.LeafDocuments;
import lectus.document.read.SelectedDocuments;
import lectus.json.FieldPath;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.json.LeafList;
import lectus.json.LeafView;
import lectus.json.TupleWriter;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * Matches and shows the documents of some rows, in one transaction. What the selector looks at is
 * read of all rows together, and so are the bodies of those that match, each as far as one reply of
 * the store goes.
 */
final class FindPage {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  /**
   * The processor's time for one part: a selector may take long for each document, and others wait
   * for the thread meanwhile. Waiting for the store does not count.
   */
  private static final long MAX_CPU_NANOS = 25_000_000;

  private final ReadTransaction tx;
  private final FindRequest request;
  private final JsonBuffer out;
  private final int enough;
  final Predicate<String> isDone;
  private final SelectedDocuments selected;
  private final LeafDocuments documents;
  private final RevisionsSubspace revisions;
  private final Optional<CoveredRow> matched;
  private final Optional<CoveredRow> covered;
  private final ReadAhead ahead = new ReadAhead();
  private final List<String> done = new ArrayList<>();
  private final long beganCpuNanos = THREADS.getCurrentThreadCpuTime();

  /**
   * @param enough length of {@code out} at which no further document is shown
   * @param isDone whether a document was shown, or skipped, at an earlier read version
   */
  FindPage(
      ReadTransaction tx,
      DatabaseHandle db,
      FindRequest request,
      IndexCandidate candidate,
      JsonBuffer out,
      int enough,
      Predicate<String> isDone) {
    this.tx = tx;
    this.request = request;
    this.out = out;
    this.enough = enough;
    this.isDone = isDone;
    this.selected =
        SelectedDocuments.ofQuery(tx, db, request.selector().reads(), request.conflicts());
    List<FieldPath> fields = request.paths();
    this.documents = new LeafDocuments(tx, db, fields, AttachmentsShown.STUBS);
    this.revisions = new RevisionsSubspace(db);
    this.matched = CoveredRow.ofSelector(request, candidate);
    this.covered = CoveredRow.of(request, candidate);
  }

  /** Returns the ids that were shown or skipped. */
  List<String> done() {
    return done;
  }

  /** Whether the part has used its time or its length. */
  boolean isSpent() {
    return out.length() >= enough
        || THREADS.getCurrentThreadCpuTime() - beganCpuNanos > MAX_CPU_NANOS;
  }

  /**
   * A row whose leaves are being read, unless the index has all that the selector looks at, or
   * nothing is to be shown.
   */
  private record Begun(
      FindRow row, boolean isLeftOut, Optional<SelectedDocuments.Started> leaves) {}

  /**
   * A row that was looked at.
   *
   * @param body empty if it does not match, is skipped, or the index has all that is shown
   */
  private record Seen(FindRow row, boolean matches, Optional<Body> body) {}

  private record Body(
      LeafDocuments.Started document, Optional<CompletableFuture<Optional<EditBranch>>> winner) {}

  /** Appends what matches until that is enough; returns how far it came, by one row at least. */
  FindCursor append(List<FindRow> rows, FindCursor from) {
    List<Begun> begun = rows.stream().map(this::begin).toList();
    FindCursor at = from;
    int next = 0;
    while (next < begun.size() && !at.hasAll() && (next == 0 || !isSpent())) {
      List<Seen> window = look(begun.subList(next, begun.size()), at);
      int length = out.length();
      long results = at.results();
      for (Seen each : window) {
        if (out.length() >= enough && next > 0) {
          return at;
        }
        at = show(each, at);
        next++;
      }
      if (at.results() > results) {
        ahead.took((int) (at.results() - results), out.length() - length);
      }
    }
    return at;
  }

  private Begun begin(FindRow row) {
    boolean isLeftOut = DocumentId.isDesign(row.docId()) || isDone.test(row.docId());
    boolean isRead = !isLeftOut && !(matched.isPresent() && row.isWhole());
    return new Begun(
        row,
        isLeftOut,
        isRead ? Optional.of(selected.start(row.docId(), false, row.winner())) : Optional.empty());
  }

  /** Begins to read the bodies of the first rows that match. */
  private List<Seen> look(List<Begun> rows, FindCursor at) {
    List<Seen> window = new ArrayList<>();
    long left = Math.min(ahead.size(), at.limit());
    long skip = at.skip();
    for (Begun each : rows) {
      if (left == 0 || (!window.isEmpty() && isSpent())) {
        break;
      }
      boolean matches = matches(each);
      boolean isShown = matches && skip == 0;
      skip -= matches && skip > 0 ? 1 : 0;
      left -= isShown ? 1 : 0;
      boolean isRead = isShown && !isCovered(each.row());
      window.add(
          new Seen(each.row(), matches, isRead ? Optional.of(body(each.row())) : Optional.empty()));
    }
    return window;
  }

  private boolean isCovered(FindRow row) {
    return covered.isPresent() && row.isWhole();
  }

  private boolean matches(Begun each) {
    if (each.isLeftOut()) {
      return false;
    }
    LeafView view =
        each.leaves().map(selected::leaves).orElseGet(() -> matched.orElseThrow().view(each.row()));
    return request.selector().matches(view, each.row().docId());
  }

  private Body body(FindRow row) {
    return new Body(
        documents.start(row.docId(), false, row.winner()),
        request.conflicts() ? Optional.of(revisions.winner(tx, row.docId())) : Optional.empty());
  }

  private FindCursor show(Seen each, FindCursor from) {
    FindRow row = each.row();
    FindCursor at = from.at(row);
    at = isCovered(row) ? at : at.examined();
    if (!each.matches()) {
      return at;
    }
    done.add(row.docId());
    if (at.skip() > 0) {
      return at.skipped();
    }
    out.ascii(at.results() == 0 ? "\r\n" : ",\r\n");
    if (each.body().isPresent()) {
      Body body = each.body().get();
      List<EditBranch> branches =
          body.winner().map(it -> branches(row, Awaiting.await(it))).orElse(List.of());
      documents.append(body.document(), branches, out);
    } else {
      covered.orElseThrow().append(row, out);
    }
    return at.shows();
  }

  /** Most documents have one branch. The branches of the others are many bytes: one at a time. */
  private List<EditBranch> branches(FindRow row, Optional<EditBranch> winner) {
    return winner.filter(it -> it.winner().branchCount() > 1).isPresent()
        ? Awaiting.await(revisions.branches(tx, row.docId()))
        : List.of();
  }

  /** Documents of which an index has all that a query needs: they are not read. */
  private static final class CoveredRow {
    private static final String ID = "_id";

    private final List<byte[]> paths = new ArrayList<>();
    private final List<Integer> shown = new ArrayList<>();
    private final byte[] idPath = path(ID);
    private final boolean showsId;

    private CoveredRow(StoredIndex index, FindRequest request) {
      Set<String> fields = new TreeSet<>();
      request.fields().forEach(field -> fields.add(NormalSelector.field(field)));
      this.showsId = fields.contains(ID);
      List<String> columns = index.definition().fields();
      for (int i = 0; i < columns.size(); i++) {
        paths.add(path(columns.get(i)));
        if (fields.contains(columns.get(i)) && !columns.get(i).equals(ID)) {
          shown.add(i);
        }
      }
      shown.sort((a, b) -> Arrays.compareUnsigned(paths.get(a), paths.get(b)));
    }

    /** Returns empty if the query needs more than the index has. */
    static Optional<CoveredRow> of(FindRequest request, IndexCandidate candidate) {
      boolean isCovered =
          !request.fields().isEmpty()
              && request.quorum() == 1
              && !request.conflicts()
              && candidate.covers(request.requiredFields());
      return candidate.index().filter(it -> isCovered).map(it -> new CoveredRow(it, request));
    }

    /** Returns what tells whether documents match; empty if the selector needs more. */
    static Optional<CoveredRow> ofSelector(FindRequest request, IndexCandidate candidate) {
      boolean isCovered = candidate.covers(request.normal().all());
      return candidate.index().filter(it -> isCovered).map(it -> new CoveredRow(it, request));
    }

    private static byte[] path(String field) {
      return FieldPath.parse(field).prefixes().get(0);
    }

    LeafView view(FindRow row) {
      LeafList leaves = new LeafList(0);
      for (int i = 0; i < paths.size(); i++) {
        leaves.add(paths.get(i), row.values().get(i));
      }
      leaves.add(idPath, new TupleWriter(64).string(row.docId()).toBytes());
      return leaves.root();
    }

    void append(FindRow row, JsonBuffer out) {
      out.octet('{');
      if (showsId) {
        out.ascii("\"_id\":").string(row.docId());
      }
      JsonAssembler members = new JsonAssembler(out, showsId);
      shown.forEach(i -> members.leaf(paths.get(i), 0, row.values().get(i)));
      members.finish();
      out.octet('}');
    }
  }

  /**
   * A document that may match.
   *
   * @param range the range that has the row, counted in the direction of reading
   * @param values what an index has of it, as tuple elements, in the order of its columns
   */
  record FindRow(int range, byte[] key, String docId, RevisionId winner, List<byte[]> values) {
    /** Returns what decodes the rows of a range: those of an index, or of all documents. */
    static BiFunction<Integer, KeyValue, FindRow> decoder(
        DatabaseHandle db, Optional<StoredIndex> index) {
      if (index.isEmpty()) {
        AllDocsSubspace allDocs = new AllDocsSubspace(db);
        return (range, row) -> {
          AllDocsRow document = allDocs.decode(row);
          return new FindRow(range, row.getKey(), document.id(), document.winner(), List.of());
        };
      }
      IndexEntriesSubspace entries = new IndexEntriesSubspace(db, index.get());
      return (range, row) -> {
        IndexEntriesSubspace.Entry entry = entries.decode(row);
        return new FindRow(range, row.getKey(), entry.docId(), entry.winner(), entry.values());
      };
    }

    /** Whether all values of the index are here. */
    boolean isWhole() {
      return values.stream().allMatch(value -> value.length > 0);
    }
  }
}
