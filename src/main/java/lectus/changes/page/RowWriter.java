package lectus.changes.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.filter.PassingEntries;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.document.read.LeafDocuments;
import lectus.json.JsonBuffer;
import lectus.json.TupleWriter;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionText;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/** Writes rows of a feed: {@code {"seq":"…","id":"a","changes":[{"rev":"3-x"}]}}. */
final class RowWriter {
  private static final byte[] SEQUENCE = FeedText.ascii("{\"seq\":\"");
  private static final byte[] NO_SEQUENCE = FeedText.ascii("{\"seq\":null,\"id\":");
  private static final byte[] ID = FeedText.ascii("\",\"id\":");
  private static final byte[] CHANGES = FeedText.ascii(",\"changes\":[{\"rev\":");
  private static final byte[] NEXT_CHANGE = FeedText.ascii("},{\"rev\":");
  private static final byte[] END_CHANGES = FeedText.ascii("}]");
  private static final byte[] DELETED = FeedText.ascii(",\"deleted\":true");
  private static final byte[] LEFT = FeedText.ascii(",\"left\":true");
  private static final byte[] NO_DOCUMENT = FeedText.ascii(",\"doc\":null");
  private static final byte[] DOCUMENT = FeedText.ascii(",\"doc\":");

  private final ReadTransaction tx;
  private final FeedOptions options;
  private final RevisionsSubspace revisions;
  private final LeafDocuments documents;
  private final JsonBuffer out;
  private final Sequence known;
  private int incarnation = -1;
  private byte[] incarnationBytes;

  RowWriter(ReadTransaction tx, DatabaseHandle db, FeedOptions options, JsonBuffer out) {
    this.tx = tx;
    this.options = options;
    this.known = options.known();
    this.revisions = new RevisionsSubspace(db);
    this.documents = new LeafDocuments(tx, db, options.fields(), options.attachments());
    this.out = out;
  }

  /** An entry whose further reads are under way; null for reads that it does not need. */
  record Started(
      PassingEntries.Passing passing,
      CompletableFuture<List<EditBranch>> branches,
      LeafDocuments.Started document,
      LeafDocuments.SmallLeaf small) {}

  /** Starts the reads that a row needs beyond its entry. */
  Started start(PassingEntries.Passing passing) {
    ChangeEntry entry = passing.entry();
    boolean branchesShown =
        (options.allLeaves() && passing.revisions().isEmpty())
            || (options.includeDocs() && options.conflicts());
    return new Started(
        passing,
        branchesShown && entry.branchCount() > 1 ? revisions.branches(tx, entry.docId()) : null,
        options.includeDocs() && !passing.left()
            ? documents.start(entry.docId(), entry.deleted(), entry.winner())
            : null,
        isShownIfSmall(passing) ? documents.startSmall(entry.docId(), entry.winner()) : null);
  }

  private boolean isShownIfSmall(PassingEntries.Passing passing) {
    ChangeEntry entry = passing.entry();
    return options.smallDocuments()
        && !options.includeDocs()
        && entry.branchCount() == 1
        && !entry.deleted()
        && !passing.left();
  }

  void append(Started row, boolean withSequence) {
    ChangeEntry entry = row.passing().entry();
    Optional<List<RevisionId>> revisions = row.passing().revisions();
    List<EditBranch> branches = row.branches() == null ? List.of() : Awaiting.await(row.branches());
    if (withSequence) {
      out.raw(SEQUENCE);
      out.ascii(Since.head(entry.sequence(), known));
      appendHex(entry.sequence());
      out.raw(ID);
    } else {
      out.raw(NO_SEQUENCE);
    }
    out.string(entry.docId());
    if (revisions.isPresent()) {
      appendChanges(revisions.get());
    } else {
      appendChanges(entry, options.allLeaves() ? branches : List.of());
    }
    if (entry.deleted()) {
      out.raw(DELETED);
    }
    if (row.passing().left()) {
      out.raw(LEFT);
    }
    if (row.document() != null) {
      out.raw(DOCUMENT);
      documents.append(row.document(), options.conflicts() ? branches : List.of(), out);
    } else if (row.small() != null) {
      documents.appendSmall(row.small(), DOCUMENT, out);
    } else if (options.includeDocs()) {
      out.raw(NO_DOCUMENT);
    }
    out.octet('}');
  }

  /** Writes {@link Sequence#toString} without creating the string. */
  private void appendHex(Sequence sequence) {
    if (sequence.incarnation() != incarnation) {
      incarnation = sequence.incarnation();
      incarnationBytes = new TupleWriter(16).integer(incarnation).toBytes();
    }
    out.hex(incarnationBytes).hex(sequence.versionstamp());
  }

  private void appendChanges(ChangeEntry entry, List<EditBranch> branches) {
    out.raw(CHANGES);
    RevisionText.append(out, entry.winner());
    for (int i = 1; i < branches.size(); i++) {
      out.raw(NEXT_CHANGE);
      RevisionText.append(out, branches.get(i).leaf());
    }
    out.raw(END_CHANGES);
  }

  private void appendChanges(List<RevisionId> revisions) {
    appendChanges(revisions, out);
  }

  private static void appendChanges(List<RevisionId> revisions, JsonBuffer out) {
    byte[] separator = CHANGES;
    for (RevisionId revision : revisions) {
      RevisionText.append(out.raw(separator), revision);
      separator = NEXT_CHANGE;
    }
    out.raw(END_CHANGES);
  }

  /** Returns the part of a row that names these leaves; a row has it once. */
  static byte[] changes(List<RevisionId> leaves) {
    JsonBuffer out = new JsonBuffer(64);
    appendChanges(leaves, out);
    return out.toBytes();
  }
}
