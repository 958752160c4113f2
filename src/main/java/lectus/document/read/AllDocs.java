package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.UpdateSequence;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseRequest;
import lectus.database.Sequence;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.document.AttachmentJson;
import lectus.document.DatabaseReads;
import lectus.document.DocumentJson;
import lectus.document.FilledBody;
import lectus.document.PagedBody;
import lectus.document.ReadAhead;
import lectus.document.RowParts.PageLimits;
import lectus.document.StoredBody;
import lectus.document.read.AllDocsQuery.ListKey;
import lectus.document.read.AllDocsQuery.Listing;
import lectus.document.read.AllDocsSubspace.AllDocsRow;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/** Lists documents in the order of their ids. */
public final class AllDocs {
  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final PageLimits pages;

  public AllDocs(Catalogue catalogue, TransactionRunner transactions) {
    this(catalogue, transactions, PageLimits.DEFAULT);
  }

  AllDocs(Catalogue catalogue, TransactionRunner transactions, PageLimits pages) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.pages = pages;
  }

  /** Returns the whole body of an answer, with CouchDB's line ends. */
  public PagedBody answer(DatabaseRequest asked, AllDocsQuery query) {
    DatabaseReads reads = new DatabaseReads(catalogue, transactions, asked);
    PagedBody body = PagedBody.alone(new ListBody(reads, query, pages));
    return filled(reads, query.hasBytes(), body);
  }

  /** Returns the whole body of an answer to {@code /queries}. */
  public PagedBody answers(DatabaseRequest asked, List<AllDocsQuery> queries) {
    DatabaseReads reads = new DatabaseReads(catalogue, transactions, asked);
    List<ListBody> bodies =
        queries.stream().map(query -> new ListBody(reads, query, pages)).toList();
    boolean hasBytes = queries.stream().anyMatch(AllDocsQuery::hasBytes);
    PagedBody combined = new PagedBody.Combined(bodies);
    return filled(
        reads,
        hasBytes,
        out -> {
          if (bodies.isEmpty()) {
            // The database has to exist all the same.
            reads.read((tx, db) -> db);
          }
          return combined.appendNext(out);
        });
  }

  private static PagedBody filled(DatabaseReads reads, boolean hasBytes, PagedBody pages) {
    return hasBytes ? new FilledBody(reads, pages) : pages;
  }

  /** The answer to one query: head, rows, tail, with CouchDB's line ends. */
  private static final class ListBody implements PagedBody {
    private final DatabaseReads reads;
    private final AllDocsQuery query;
    private final PageLimits limits;
    private ListRows rows;
    private boolean begun;
    private boolean hasRows;

    ListBody(DatabaseReads reads, AllDocsQuery query, PageLimits limits) {
      this.reads = reads;
      this.query = query;
      this.limits = limits;
      this.rows = query.keys().isPresent() ? new KeyRows(query) : new RangeRows(query);
    }

    private record Part(ListRows rows, boolean hasRows) {}

    /**
     * Appends the next part, up to the closing brace of the answer.
     *
     * @return whether there is more
     */
    @Override
    public boolean appendNext(JsonBuffer out) {
      int start = out.length();
      Part part =
          reads.read(
              (tx, db) -> {
                out.truncate(start);
                return append(tx, db, out);
              });
      begun = true;
      rows = part.rows();
      hasRows = part.hasRows();
      if (rows.isFinished()) {
        out.ascii("\r\n]}");
      }
      return !rows.isFinished();
    }

    private Part append(ReadTransaction tx, DatabaseHandle db, JsonBuffer out) {
      if (!begun) {
        checkPartition(db);
        new ListHead(tx, db, query).append(out);
      }
      ListRowWriter writer = new ListRowWriter(out, limits, hasRows);
      ListRows rest = rows.isFinished() ? rows : rows.append(tx, db, writer);
      return new Part(rest, writer.hasRows());
    }

    private void checkPartition(DatabaseHandle db) {
      if (query.partition().isPresent() && !db.configuration().partitioned()) {
        throw LectusException.badRequest(
            "query_parse_error", "`partition` parameter is not supported on this db");
      }
    }

    /**
     * The rows of individually requested keys, in the order of the request.
     *
     * @param next the index of the next key
     */
    private record KeyRows(AllDocsQuery query, List<ListKey> keys, int next) implements ListRows {
      /** Number of keys read together. */
      private static final int KEYS_AT_ONCE = 100;

      KeyRows(AllDocsQuery query) {
        this(query, keysInOrder(query), 0);
      }

      private static List<ListKey> keysInOrder(AllDocsQuery query) {
        List<ListKey> keys = new ArrayList<>(query.keys().orElseThrow());
        if (query.descending()) {
          Collections.reverse(keys);
        }
        int from = (int) Math.min(keys.size(), query.skip());
        int to = (int) Math.min(keys.size(), from + Math.min(keys.size(), query.limit()));
        return keys.subList(from, to).stream().filter(query::mayList).toList();
      }

      @Override
      public boolean isFinished() {
        return next == keys.size();
      }

      @Override
      public ListRows append(ReadTransaction tx, DatabaseHandle db, ListRowWriter writer) {
        KeyReads reads = new KeyReads(tx, db, query);
        int at = next;
        while (at < keys.size() && !writer.isFull()) {
          int stop = Math.min(keys.size(), at + KEYS_AT_ONCE);
          at += reads.append(keys.subList(at, stop), writer);
        }
        return new KeyRows(query, keys, at);
      }
    }
  }

  /**
   * Writes what precedes the rows of a list: {@code total_rows}, {@code offset}, {@code
   * update_seq}.
   *
   * <p>The offset is the number of rows before the answer's first row. It is exact if the range has
   * no start or if few rows lie before it. Otherwise only a scan could tell, so it is estimated
   * from the share of the list's bytes that lie before the range.
   */
  private record ListHead(ReadTransaction tx, DatabaseHandle db, AllDocsQuery query) {
    /** Maximum number of rows counted one by one. */
    private static final int COUNTED_ROWS = 1_000;

    void append(JsonBuffer out) {
      if (query.listing() == Listing.LOCAL) {
        out.ascii("{\"total_rows\":null,\"offset\":null");
        appendUpdateSequence(out, Optional.empty());
      } else {
        CompletableFuture<Optional<Sequence>> sequence =
            query.updateSeq() && query.keys().isEmpty()
                ? new UpdateSequence(db).read(tx)
                : CompletableFuture.completedFuture(Optional.empty());
        long total = total();
        out.ascii("{\"total_rows\":").number(total).ascii(",\"offset\":");
        if (query.keys().isPresent()) {
          out.nil();
        } else {
          out.number(Math.min(total, offset(total)));
        }
        appendUpdateSequence(out, Awaiting.await(sequence));
      }
      out.ascii(",\"rows\":[\r\n");
    }

    private void appendUpdateSequence(JsonBuffer out, Optional<Sequence> sequence) {
      if (!query.updateSeq()) {
        return;
      }
      out.ascii(",\"update_seq\":");
      if (query.keys().isPresent() || query.listing() == Listing.LOCAL) {
        out.nil();
      } else {
        out.string(sequence.map(Sequence::toString).orElse("0"));
      }
    }

    /** Design documents are few, so they are counted. */
    private long total() {
      if (query.listing() == Listing.DESIGN) {
        ListSource design = new ListSource(query, db);
        return count(design.begin(), design.end(), ReadTransaction.ROW_LIMIT_UNLIMITED);
      }
      CompletableFuture<DatabaseCounters> statistics =
          query
              .partition()
              .map(partition -> DatabaseCounters.ofPartition(tx, db, partition))
              .orElseGet(() -> DatabaseCounters.read(tx, db));
      return Awaiting.await(statistics).documents();
    }

    private long offset(long total) {
      if (query.start().isEmpty()) {
        return query.skip();
      }
      ListSource source = new ListSource(query, db);
      byte[] bound =
          query.descending()
              ? source.highest(query.start(), true).orElse(source.begin())
              : source.lowest(query.start(), true);
      long before =
          query.descending()
              ? rowsBetween(source, bound, source.end(), total)
              : rowsBetween(source, source.begin(), bound, total);
      return query.skip() > Long.MAX_VALUE - before ? Long.MAX_VALUE : before + query.skip();
    }

    private long rowsBetween(ListSource source, byte[] begin, byte[] end, long total) {
      long counted = count(begin, end, COUNTED_ROWS);
      if (counted < COUNTED_ROWS) {
        return counted;
      }
      CompletableFuture<Long> part = tx.getEstimatedRangeSizeBytes(begin, end);
      CompletableFuture<Long> whole = tx.getEstimatedRangeSizeBytes(source.begin(), source.end());
      double share = (double) Awaiting.await(part) / Math.max(1, Awaiting.await(whole));
      return Math.max(counted, Math.round(Math.min(1, share) * total));
    }

    private long count(byte[] begin, byte[] end, int limit) {
      List<?> rows =
          Awaiting.await(tx.getRange(begin, end, limit, false, StreamingMode.WANT_ALL).asList());
      return rows.size();
    }
  }

  /** Reads a few rows by key: first all rows, then all tombstones and all bodies. */
  static final class KeyReads {
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
      this.source = new ListSource(query, db);
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

    /**
     * Reads the {@code _conflicts} of listed documents, only where there is more than one branch.
     */
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
}
