package lectus.document.list;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.document.AttachmentJson;
import lectus.document.DocumentJson;
import lectus.document.ReadAhead;
import lectus.document.StoredBody;
import lectus.document.list.AllDocsQuery.ListKey;
import lectus.document.list.AllDocsQuery.Listing;
import lectus.document.list.AllDocsSubspace.AllDocsRow;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/** Reads a few rows by key: first all rows, then all tombstones and all bodies. */
final class KeyReads {
  private final ReadTransaction tx;
  private final AllDocsQuery query;
  private final ListSource source;
  private final RevisionsSubspace revisions;
  private final ConflictReads conflicts;
  private final AttachmentJson attachments;
  private final ReadAhead bodies = new ReadAhead();

  KeyReads(ReadTransaction tx, DatabaseHandle db, AllDocsQuery query) {
    this.tx = tx;
    this.query = query;
    this.source = ListSource.of(query, db);
    this.revisions = new RevisionsSubspace(db);
    this.conflicts = new ConflictReads(tx, db, query.conflicts());
    this.attachments = new AttachmentJson(query.attachments());
  }

  /** The state of a key after the first round of reads. */
  private sealed interface Found {
    /** A live document. */
    record Live(AllDocsRow row) implements Found {}

    /** An id that is not in the list. Its winner, if it has one, is a tombstone. */
    record Absent(String id, CompletableFuture<Optional<EditBranch>> winner) implements Found {}

    /** A key that no document can have. */
    record Nothing() implements Found {}
  }

  /**
   * Appends the keys' rows until the part is full.
   *
   * @return the number of keys whose rows were appended, at least one
   */
  int append(List<ListKey> keys, ListRowWriter writer) {
    List<CompletableFuture<Optional<AllDocsRow>>> rows = new ArrayList<>(keys.size());
    for (ListKey key : keys) {
      rows.add(
          id(key)
              .map(id -> source.row(tx, id))
              .orElseGet(() -> CompletableFuture.completedFuture(Optional.empty())));
    }
    List<Found> found = new ArrayList<>(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      found.add(find(keys.get(i), Awaiting.await(rows.get(i))));
    }
    int appended = 0;
    do {
      int stop = query.includeDocs() ? appended + bodies.size() : keys.size();
      appended += append(keys, found, appended, Math.min(keys.size(), stop), writer);
    } while (appended < keys.size() && !writer.isFull());
    return appended;
  }

  /** Appends some rows whose bodies are read together; returns how many, at least one. */
  private int append(
      List<ListKey> keys, List<Found> found, int from, int to, ListRowWriter writer) {
    List<Optional<CompletableFuture<StoredBody>>> reading =
        found.subList(from, to).stream().map(this::body).toList();
    int before = writer.out().length();
    int appended = 0;
    do {
      int at = from + appended;
      append(keys.get(at), found.get(at), reading.get(appended), writer);
      appended++;
    } while (from + appended < to && !writer.isFull());
    bodies.took(appended, writer.out().length() - before);
    return appended;
  }

  private Found find(ListKey key, Optional<AllDocsRow> row) {
    if (row.isPresent()) {
      return new Found.Live(row.get());
    }
    return id(key).isEmpty() || query.listing() == Listing.LOCAL
        ? new Found.Nothing()
        : new Found.Absent(id(key).get(), revisions.winner(tx, id(key).get()));
  }

  /** Returns the document id that the list may have for this key. */
  private Optional<String> id(ListKey key) {
    return key.id().filter(query::includes);
  }

  private Optional<CompletableFuture<StoredBody>> body(Found found) {
    return query.includeDocs() && found instanceof Found.Live live
        ? Optional.of(StoredBody.read(tx, source.body(live.row())))
        : Optional.empty();
  }

  private void append(
      ListKey key,
      Found found,
      Optional<CompletableFuture<StoredBody>> body,
      ListRowWriter writer) {
    if (found instanceof Found.Live live) {
      append(live.row(), body, writer);
    } else if (found instanceof Found.Absent absent
        && Awaiting.await(absent.winner()).isPresent()) {
      appendTombstone(absent.id(), Awaiting.await(absent.winner()).get(), writer);
    } else {
      writer.notFound(key.json());
    }
  }

  private void append(
      AllDocsRow row, Optional<CompletableFuture<StoredBody>> body, ListRowWriter writer) {
    writer.open(row.id(), row.winner(), false);
    if (body.isPresent()) {
      writer.beginDocument();
      StoredBody stored = Awaiting.await(body.get());
      JsonBuffer out = writer.out();
      DocumentJson.append(out, row.id(), false, row.winner(), stored);
      conflicts.append(row, out);
      attachments.close(out, stored.attachments());
    }
    writer.close();
  }

  private void appendTombstone(String id, EditBranch tombstone, ListRowWriter writer) {
    writer.open(id, tombstone.leaf(), true);
    if (query.includeDocs()) {
      writer.beginDocument();
      writer.out().nil();
    }
    writer.close();
  }

  /** Reads the {@code _conflicts} of listed documents, only where there is more than one branch. */
  static final class ConflictReads {
    private final ReadTransaction tx;
    private final RevisionsSubspace revisions;
    private final boolean wanted;

    ConflictReads(ReadTransaction tx, DatabaseHandle db, boolean wanted) {
      this.tx = tx;
      this.revisions = new RevisionsSubspace(db);
      this.wanted = wanted;
    }

    void append(AllDocsRow row, JsonBuffer out) {
      if (wanted && row.branchCount() > 1) {
        DocumentJson.appendConflicts(out, Awaiting.await(revisions.branches(tx, row.id())));
      }
    }
  }
}
