package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.document.AttachmentJson;
import lectus.document.AttachmentsShown;
import lectus.document.DocumentJson;
import lectus.document.ReadAhead;
import lectus.document.StoredBody;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * Winners of entries of the changes index as map functions see them: with {@code _conflicts},
 * {@code _deleted_conflicts} and stubs of attachments.
 */
public final class MappedDocuments {
  private final ReadTransaction tx;
  private final Bodies bodies;
  private final RevisionsSubspace revisions;
  private final boolean localSeq;
  private final long mostBytes;
  private final ReadAhead ahead = new ReadAhead();

  /**
   * @param localSeq whether they have {@code _local_seq}
   * @param mostBytes of all together; the first may have more
   */
  public MappedDocuments(ReadTransaction tx, DatabaseHandle db, boolean localSeq, long mostBytes) {
    this.tx = tx;
    this.bodies = new Bodies(db);
    this.revisions = new RevisionsSubspace(db);
    this.localSeq = localSeq;
    this.mostBytes = mostBytes;
  }

  /** What is being read of a document. */
  private record Started(
      ChangeEntry entry,
      CompletableFuture<StoredBody> body,
      CompletableFuture<List<EditBranch>> branches) {}

  /**
   * Returns the JSON of the first ones, as many as there is room for.
   *
   * @param entries empty ones are kept
   */
  public List<Optional<byte[]>> read(List<Optional<ChangeEntry>> entries) {
    List<Optional<byte[]>> all = new ArrayList<>(entries.size());
    long bytes = 0;
    while (all.size() < entries.size()) {
      int from = all.size();
      int to = Math.min(entries.size(), from + ahead.size());
      List<Optional<Started>> window =
          entries.subList(from, to).stream().map(it -> it.map(this::start)).toList();
      long before = bytes;
      for (Optional<Started> each : window) {
        Optional<byte[]> json = each.map(this::json);
        bytes += json.map(it -> (long) it.length).orElse(0L);
        if (bytes > mostBytes && !all.isEmpty()) {
          return all;
        }
        all.add(json);
      }
      ahead.took(window.size(), bytes - before);
    }
    return all;
  }

  private Started start(ChangeEntry entry) {
    return new Started(
        entry,
        bodies.of(tx, entry.docId(), false, entry.winner()),
        entry.branchCount() > 1
            ? revisions.branches(tx, entry.docId())
            : CompletableFuture.completedFuture(List.of()));
  }

  private byte[] json(Started document) {
    ChangeEntry entry = document.entry;
    StoredBody body = Awaiting.await(document.body);
    List<EditBranch> branches = Awaiting.await(document.branches);
    JsonBuffer out = new JsonBuffer(512);
    DocumentJson.append(out, entry.docId(), false, entry.winner(), body);
    DocumentJson.appendConflicts(out, branches);
    DocumentJson.appendDeletedConflicts(out, branches);
    if (localSeq) {
      DocumentJson.appendLocalSequence(out, entry.sequence());
    }
    new AttachmentJson(AttachmentsShown.STUBS).close(out, body.attachments());
    return out.toBytes();
  }
}
