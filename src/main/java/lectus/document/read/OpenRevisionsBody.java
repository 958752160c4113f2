package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import lectus.database.DatabaseHandle;
import lectus.document.DatabaseReads;
import lectus.document.PagedBody;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * The answer to {@code open_revs}, in CouchDB's order: documents by ascending revision, then
 * missing revisions. The first part decides which leaves there are.
 */
final class OpenRevisionsBody implements PagedBody {
  private final DatabaseReads reads;
  private final String id;
  private final OpenRevisions which;
  private final OpenRevisionsForm form;
  private List<Piece> pieces;
  private int next;

  OpenRevisionsBody(DatabaseReads reads, String id, OpenRevisions which, OpenRevisionsForm form) {
    this.reads = reads;
    this.id = id;
    this.which = which;
    this.form = form;
  }

  @Override
  public boolean appendNext(JsonBuffer out) {
    int start = out.length();
    record Part(List<Piece> pieces, int next) {}
    Part part =
        reads.read(
            (tx, db) -> {
              out.truncate(start);
              List<Piece> all = pieces == null ? resolve(tx, db) : pieces;
              PieceWriter writer = new PieceWriter(tx, db, which.revs(), which.attachments(), out);
              return new Part(all, writer.append(all, next, start + PieceWriter.PART_BYTES));
            });
    pieces = part.pieces();
    next = part.next();
    return next < pieces.size();
  }

  private List<Piece> resolve(ReadTransaction tx, DatabaseHandle db) {
    List<EditBranch> branches = Awaiting.await(new RevisionsSubspace(db).branches(tx, id));
    if (which.revisions().isEmpty() && branches.isEmpty()) {
      throw LectusException.notFound("missing");
    }
    TreeMap<RevisionId, EditBranch> found = new TreeMap<>();
    TreeSet<RevisionId> missing = new TreeSet<>();
    if (which.revisions().isEmpty()) {
      branches.forEach(branch -> found.put(branch.leaf(), branch));
    } else {
      for (RevisionId revision : which.revisions().get()) {
        List<EditBranch> leaves = leaves(branches, revision);
        leaves.forEach(branch -> found.put(branch.leaf(), branch));
        if (leaves.isEmpty()) {
          missing.add(revision);
        }
      }
    }
    return form.pieces(id, List.copyOf(found.values()), List.copyOf(missing));
  }

  private List<EditBranch> leaves(List<EditBranch> branches, RevisionId revision) {
    return branches.stream()
        .filter(
            branch -> which.latest() ? branch.contains(revision) : branch.leaf().equals(revision))
        .sorted(Comparator.comparing(EditBranch::leaf))
        .toList();
  }
}
