package lectus.document.bulk;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.document.DatabaseReads;
import lectus.document.PagedBody;
import lectus.document.read.Piece;
import lectus.document.read.PieceWriter;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonString;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Reads;

/** The answer to {@code _bulk_get}: one result for each request, in their order. */
final class BulkGetBody implements PagedBody {
  /** Requests whose edit branches are read together. */
  private static final int REQUESTS_AT_ONCE = 64;

  private final DatabaseReads reads;
  private final List<BulkGetRequest> requests;
  private final boolean revs;
  private final boolean latest;
  private Progress progress = new Progress(0, List.of(), 0);

  BulkGetBody(DatabaseReads reads, List<BulkGetRequest> requests, boolean revs, boolean latest) {
    this.reads = reads;
    this.requests = requests;
    this.revs = revs;
    this.latest = latest;
  }

  /**
   * @param request the number of the next request to look at
   * @param pieces what those before it have become
   * @param piece the number of the next piece to write
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
                out.ascii("{\"results\":[");
              }
              return append(tx, db, out, start + PieceWriter.PART_BYTES);
            });
    boolean more = progress.request() < requests.size() || !progress.piecesAreWritten();
    if (!more) {
      out.ascii("]}\n");
    }
    return more;
  }

  private Progress append(ReadTransaction tx, DatabaseHandle db, JsonBuffer out, int enough) {
    PieceWriter writer = new PieceWriter(tx, db, revs, out);
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
      pieces.add(Piece.text(i == 0 ? "" : ","));
      if (checked.get(i - from) instanceof BulkGetRequest.Document document) {
        addResult(pieces, document, Reads.await(reading.get(i - from)));
      } else if (checked.get(i - from) instanceof BulkGetRequest.Refused refused) {
        addResult(pieces, refused);
      }
    }
    return pieces;
  }

  private static void addResult(List<Piece> pieces, BulkGetRequest.Refused refused) {
    pieces.add(
        new Piece.Text(
            new JsonBuffer(128)
                .ascii("{\"id\":")
                .raw(refused.id())
                .ascii(",\"docs\":[")
                .raw(refused.answer())
                .ascii("]}")
                .toBytes()));
  }

  private void addResult(
      List<Piece> pieces, BulkGetRequest.Document document, List<EditBranch> branches) {
    JsonBuffer head = new JsonBuffer(64).ascii("{\"id\":").string(document.id());
    pieces.add(new Piece.Text(head.ascii(",\"docs\":[").toBytes()));
    List<EditBranch> leaves = leaves(document, branches);
    if (leaves.isEmpty()) {
      String revision = document.revision().map(RevisionId::toString).orElse("undefined");
      pieces.add(new Piece.Text(missing(document.id(), revision)));
    }
    String separator = "";
    for (EditBranch leaf : leaves) {
      pieces.add(Piece.text(separator));
      pieces.add(
          new Piece.Leaf(document.id(), leaf, missing(document.id(), leaf.leaf().toString())));
      separator = ",";
    }
    pieces.add(Piece.text("]}"));
  }

  /** The winner first, those deleted last. */
  private List<EditBranch> leaves(BulkGetRequest.Document document, List<EditBranch> branches) {
    if (document.revision().isEmpty()) {
      return branches;
    }
    RevisionId wanted = document.revision().get();
    return branches.stream()
        .filter(branch -> latest ? branch.contains(wanted) : branch.leaf().equals(wanted))
        .toList();
  }

  private static byte[] missing(String id, String revision) {
    JsonValue idJson = new JsonString(id);
    return BulkGetRequest.error(idJson, new JsonString(revision), "not_found", "missing");
  }
}
