package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.document.AttachmentsShown;
import lectus.document.DatabaseReads;
import lectus.document.PagedBody;
import lectus.document.read.BulkGetForm.BulkGetResult;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/** The answer to {@code _bulk_get}: one result per request, in the order of the requests. */
final class BulkGetBody implements PagedBody {
  /** Number of requests whose edit branches are read together, and then their bodies. */
  private static final int REQUESTS_AT_ONCE = 50;

  private final DatabaseReads reads;
  private final List<BulkGetRequest> requests;
  private final boolean revs;
  private final boolean latest;
  private final AttachmentsShown attachments;
  private final BulkGetForm form;
  private Progress progress = new Progress(0, List.of(), 0);

  BulkGetBody(
      DatabaseReads reads,
      List<BulkGetRequest> requests,
      boolean revs,
      boolean latest,
      AttachmentsShown attachments,
      BulkGetForm form) {
    this.reads = reads;
    this.requests = requests;
    this.revs = revs;
    this.latest = latest;
    this.attachments = attachments;
    this.form = form;
  }

  /**
   * @param request the index of the next request to look at
   * @param pieces the pieces that earlier requests produced
   * @param piece the index of the next piece to write
   */
  private record Progress(int request, List<Piece> pieces, int piece) {
    boolean piecesAreWritten() {
      return piece == pieces.size();
    }
  }

  @Override
  public boolean appendNext(JsonBuffer out) {
    int start = out.length();
    boolean first = progress.request() == 0;
    progress =
        reads.read(
            (tx, db) -> {
              out.truncate(start);
              if (first) {
                out.ascii(form.head());
              }
              PartWriter writer = new PartWriter(tx, db, revs, attachments, out);
              return append(tx, db, writer, out, start + PartWriter.PART_BYTES);
            });
    boolean more = progress.request() < requests.size() || !progress.piecesAreWritten();
    if (!more) {
      out.ascii(form.end(requests.isEmpty()));
    }
    return more;
  }

  private Progress append(
      ReadTransaction tx, DatabaseHandle db, PartWriter writer, JsonBuffer out, int enough) {
    Progress at = progress;
    while (out.length() < enough) {
      if (at.piecesAreWritten()) {
        if (at.request() == requests.size()) {
          return at;
        }
        int stop = Math.min(requests.size(), at.request() + REQUESTS_AT_ONCE);
        at = new Progress(stop, resolve(tx, db, at.request(), stop), 0);
      }
      int piece = writer.append(at.pieces(), at.piece(), enough);
      at = new Progress(at.request(), at.pieces(), piece);
    }
    return at;
  }

  private List<Piece> resolve(ReadTransaction tx, DatabaseHandle db, int from, int to) {
    RevisionsSubspace revisions = new RevisionsSubspace(db);
    List<CompletableFuture<List<EditBranch>>> reading = new ArrayList<>(to - from);
    List<BulkGetRequest> checked =
        requests.subList(from, to).stream().map(it -> it.checkedFor(db)).toList();
    for (BulkGetRequest request : checked) {
      reading.add(
          request instanceof BulkGetRequest.Document document
              ? revisions.branches(tx, document.id())
              : null);
    }
    List<Piece> pieces = new ArrayList<>();
    for (int i = from; i < to; i++) {
      form.add(result(checked.get(i - from), reading.get(i - from)), i == 0, pieces);
    }
    return pieces;
  }

  private BulkGetResult result(
      BulkGetRequest request, CompletableFuture<List<EditBranch>> branches) {
    if (request instanceof BulkGetRequest.Document document) {
      return result(document, Awaiting.await(branches));
    }
    return new BulkGetResult.Failed(((BulkGetRequest.Refused) request).error());
  }

  private BulkGetResult result(BulkGetRequest.Document document, List<EditBranch> branches) {
    List<EditBranch> leaves = leaves(document, branches);
    if (!leaves.isEmpty()) {
      return new BulkGetResult.Leaves(document.id(), leaves, document.known());
    }
    return document
        .revision()
        .<BulkGetResult>map(revision -> new BulkGetResult.Missing(document.id(), revision))
        .orElseGet(() -> new BulkGetResult.Failed(BulkGetError.missing(document.id())));
  }

  /** Returns the winner first, deleted leaves last. */
  private List<EditBranch> leaves(BulkGetRequest.Document document, List<EditBranch> branches) {
    if (document.revision().isEmpty()) {
      return branches;
    }
    RevisionId wanted = document.revision().get();
    return branches.stream()
        .filter(branch -> latest ? branch.contains(wanted) : branch.leaf().equals(wanted))
        .toList();
  }
}
