package lectus.document.query;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.document.body.AttachmentsShown;
import lectus.document.read.LeafDocuments;
import lectus.document.read.SelectedDocuments;
import lectus.json.FieldPath;
import lectus.json.JsonBuffer;
import lectus.json.LeafView;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/** Matches and shows the documents of some rows, in one transaction. */
final class FindPage {
  private final ReadTransaction tx;
  private final FindRequest request;
  private final JsonBuffer out;
  private final SelectedDocuments selected;
  private final LeafDocuments documents;
  private final RevisionsSubspace revisions;
  private final Optional<CoveredRow> matched;
  private final Optional<CoveredRow> covered;

  FindPage(
      ReadTransaction tx,
      DatabaseHandle db,
      FindRequest request,
      IndexCandidate candidate,
      JsonBuffer out) {
    this.tx = tx;
    this.request = request;
    this.out = out;
    this.selected =
        SelectedDocuments.ofQuery(tx, db, request.selector().reads(), request.conflicts());
    List<FieldPath> fields = request.paths();
    this.documents = new LeafDocuments(tx, db, fields, AttachmentsShown.STUBS);
    this.revisions = new RevisionsSubspace(db);
    this.matched = CoveredRow.ofSelector(request, candidate);
    this.covered = CoveredRow.of(request, candidate);
  }

  /** A row whose leaves are being read, unless the index has all that the selector looks at. */
  private record Begun(FindRow row, Optional<SelectedDocuments.Started> reading) {}

  /**
   * Appends what matches until that is enough, or time is over; returns how far it came, by one row
   * at least.
   *
   * @param end as {@link System#nanoTime} tells it
   */
  FindCursor append(List<FindRow> rows, FindCursor from, int enough, long end) {
    List<Begun> begun = new ArrayList<>(rows.size());
    for (FindRow row : rows) {
      boolean isRead = !FindBody.isHidden(row) && !isMatchedByIndex(row);
      begun.add(
          new Begun(
              row,
              isRead
                  ? Optional.of(selected.start(row.docId(), false, row.winner()))
                  : Optional.empty()));
    }
    FindCursor at = from;
    for (Begun each : begun) {
      boolean isLate = at.keys() > from.keys() && System.nanoTime() - end > 0;
      if (at.limit() == 0 || out.length() >= enough || isLate) {
        break;
      }
      at = at.at(each.row().key());
      at = isCovered(each.row()) ? at : at.examined();
      if (!matches(each)) {
        continue;
      }
      if (at.skip() > 0) {
        at = at.skipped();
      } else {
        at = show(each.row(), at);
      }
    }
    return at;
  }

  private boolean isMatchedByIndex(FindRow row) {
    return matched.isPresent() && row.isWhole();
  }

  private boolean isCovered(FindRow row) {
    return covered.isPresent() && row.isWhole();
  }

  private boolean matches(Begun each) {
    if (FindBody.isHidden(each.row())) {
      return false;
    }
    LeafView view =
        each.reading()
            .map(selected::leaves)
            .orElseGet(() -> matched.orElseThrow().view(each.row()));
    return request.selector().matches(view, each.row().docId());
  }

  private FindCursor show(FindRow row, FindCursor at) {
    out.ascii(at.results() == 0 ? "\r\n" : ",\r\n");
    if (isCovered(row)) {
      covered.get().append(row, out);
    } else {
      List<EditBranch> branches =
          request.conflicts() ? Awaiting.await(revisions.branches(tx, row.docId())) : List.of();
      documents.append(documents.start(row.docId(), false, row.winner()), branches, out);
    }
    return at.shows();
  }
}
