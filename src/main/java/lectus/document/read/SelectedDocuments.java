package lectus.document.read;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.async.AsyncIterator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import lectus.database.DatabaseHandle;
import lectus.derived.LeafRead;
import lectus.derived.LeafRead.Extent;
import lectus.derived.Selector;
import lectus.document.DocumentsSubspace;
import lectus.document.MetadataLeaves;
import lectus.document.RevisionMetadata;
import lectus.document.StoredBody;
import lectus.json.ChosenPaths;
import lectus.json.ExplodedBody;
import lectus.json.FieldPath;
import lectus.json.JsonExploder;
import lectus.json.LeafList;
import lectus.json.LeafView;
import lectus.json.StringParts;
import lectus.json.TupleReader;
import lectus.json.TupleType;
import lectus.json.TupleWriter;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/**
 * Matches documents at known leaves against a selector, many at a time. It reads only what the
 * selector looks at (RFC 004): often one key per document. Several threads may use it, each for
 * documents of its own.
 */
public final class SelectedDocuments {
  private static final byte[] NO_HEAD = {};

  private final ReadTransaction tx;
  private final boolean showsAttachments;
  private final Optional<RevisionsSubspace> conflicts;
  private final Bodies bodies;
  private final SpecialLeaves special;
  private final PartReads reads;
  private final List<LeafRead> stored;
  private final ChosenPaths paths;

  /** Those of {@link #stored} that are read as a whole. */
  private final ChosenPaths whole;

  /** The others. */
  private final List<LeafRead> beginnings;

  /**
   * @param looksAt what to read of each document, from {@link Selector#reads}; attachments and
   *     conflicts count as missing
   */
  public SelectedDocuments(ReadTransaction tx, DatabaseHandle db, List<LeafRead> looksAt) {
    this(tx, db, looksAt, false, Optional.empty());
  }

  private SelectedDocuments(
      ReadTransaction tx,
      DatabaseHandle db,
      List<LeafRead> looksAt,
      boolean showsAttachments,
      Optional<RevisionsSubspace> conflicts) {
    this.tx = tx;
    this.showsAttachments = showsAttachments;
    this.conflicts = conflicts;
    this.bodies = new Bodies(db);
    this.special = new SpecialLeaves(looksAt);
    this.reads = new PartReads(tx);
    this.stored = looksAt.stream().filter(it -> !SpecialLeaves.isPart(it)).toList();
    this.paths = paths(stored);
    this.whole = paths(stored.stream().filter(it -> it.extent() == Extent.ALL).toList());
    this.beginnings = stored.stream().filter(it -> it.extent() != Extent.ALL).toList();
  }

  private static ChosenPaths paths(List<LeafRead> reads) {
    return ChosenPaths.of(reads.stream().map(LeafRead::path).toList());
  }

  /**
   * The same for queries, whose selectors may look at the stubs of attachments.
   *
   * @param showConflicts whether they see {@code _conflicts}, too
   */
  public static SelectedDocuments ofQuery(
      ReadTransaction tx, DatabaseHandle db, List<LeafRead> looksAt, boolean showConflicts) {
    Optional<RevisionsSubspace> revisions =
        Optional.of(looksAt)
            .filter(it -> showConflicts && SpecialLeaves.haveConflicts(it))
            .map(it -> new RevisionsSubspace(db));
    return new SelectedDocuments(
        tx, db, looksAt, SpecialLeaves.haveAttachments(looksAt), revisions);
  }

  /** A document whose selected leaves are being read. */
  public record Started(
      String id,
      boolean deleted,
      RevisionId leaf,
      byte[] prefix,
      Optional<CompletableFuture<byte[]>> first,
      List<PartReads.Part> parts,
      Optional<CompletableFuture<Optional<EditBranch>>> winner) {}

  public Started start(String id, boolean deleted, RevisionId leaf) {
    byte[] prefix = bodies.documents.revision(id, deleted, leaf);
    Optional<CompletableFuture<byte[]>> first =
        !stored.isEmpty() || showsAttachments ? Optional.of(reads.get(prefix)) : Optional.empty();
    List<PartReads.Part> parts = new ArrayList<>(stored.size());
    if (first.filter(StoredBody::hasNoLeafRows).isEmpty()) {
      for (LeafRead read : stored) {
        parts.add(reads.start(prefix, read.path(), read.extent()));
      }
    }
    return new Started(
        id, deleted, leaf, prefix, first, parts, conflicts.map(it -> it.winner(tx, id)));
  }

  private static RevisionMetadata metadata(Started document) {
    byte[] value = document.first.map(Awaiting::await).orElse(null);
    return value == null ? RevisionMetadata.NONE : RevisionMetadata.of(value);
  }

  public boolean matches(Selector selector, Started document) {
    return selector.matches(leaves(document), document.id);
  }

  /** Returns what was read of a document. Call it once. */
  public LeafView leaves(Started document) {
    RevisionMetadata metadata = metadata(document);
    byte[] head = metadata.hasLeafRows() ? document.prefix : NO_HEAD;
    LeafList leaves = new LeafList(head.length);
    document.first.map(Awaiting::await).ifPresent(value -> reads.take(document.prefix, value));
    if (metadata.isInline()) {
      metadata.leaves(paths).forEach(leaf -> leaves.add(leaf.path(), leaf.value()));
    } else if (metadata.isText() && !stored.isEmpty()) {
      reads.taken(metadata.textBytes());
      Awaiting.await(StoredBody.read(tx, document.prefix))
          .leaves(new TextChoice())
          .forEach(leaf -> leaves.add(leaf.path(), leaf.value()));
    } else {
      document.parts.forEach(part -> part.addTo(leaves, head.length));
    }
    special.addTo(leaves, head, document.id, document.deleted, document.leaf);
    if (showsAttachments) {
      add(MetadataLeaves.ofAttachments(metadata.attachments()), head, leaves);
    }
    document.winner.ifPresent(
        it -> add(MetadataLeaves.ofConflicts(branches(document, it)), head, leaves));
    return leaves.root();
  }

  /**
   * Chooses the leaves of one body or text of which rows would be read: of a container of which
   * only the type matters the first leaf.
   */
  private final class TextChoice implements JsonExploder.Choice {
    private final List<LeafRead> open = new ArrayList<>(beginnings);
    private ChosenPaths openPaths = paths(beginnings);

    @Override
    public boolean leadsTo(byte[] path, int pathEnd) {
      if (openPaths.contain(path, 0, pathEnd)) {
        close(it -> it.extent() == Extent.LEAF && it.path().length < pathEnd, path, pathEnd);
      }
      return whole.leadsTo(path, pathEnd) || openPaths.leadsTo(path, pathEnd);
    }

    @Override
    public boolean keeps(byte[] path, int pathEnd) {
      boolean isFirst = openPaths.contain(path, 0, pathEnd);
      if (isFirst) {
        close(it -> true, path, pathEnd);
      }
      return isFirst || whole.keeps(path, pathEnd);
    }

    /** Ends such reads at and above a path. */
    private void close(Predicate<LeafRead> which, byte[] path, int pathEnd) {
      boolean isClosed =
          open.removeIf(
              it -> which.test(it) && TupleReader.isAtOrBelow(it.path(), path, 0, pathEnd));
      if (isClosed) {
        openPaths = paths(open);
      }
    }
  }

  /** Most documents have one branch. The branches of the others are many bytes: one at a time. */
  private List<EditBranch> branches(
      Started document, CompletableFuture<Optional<EditBranch>> winner) {
    return Awaiting.await(winner)
        .filter(it -> it.winner().branchCount() > 1)
        .map(it -> Awaiting.await(conflicts.orElseThrow().branches(tx, document.id)))
        .orElse(List.of());
  }

  private static void add(ExplodedBody metadata, byte[] prefix, LeafList leaves) {
    metadata
        .leaves()
        .forEach(leaf -> leaves.add(LeafPrefixes.join(prefix, leaf.path()), leaf.value()));
  }

  /** Returns what a selector may look at in a live document that is not stored yet. */
  public LeafView leaves(String id, RevisionId leaf, ExplodedBody body) {
    return leaves(id, false, leaf, body);
  }

  /** Returns what a selector may look at in a document that is not stored yet. */
  public LeafView leaves(String id, boolean deleted, RevisionId leaf, ExplodedBody body) {
    LeafList leaves = LeafList.of(body, new TextChoice());
    special.addTo(leaves, new byte[0], id, deleted, leaf);
    return leaves.root();
  }

  /** Returns the bytes of keys and values read for all documents so far. */
  public long bytesRead() {
    return reads.taken.sum();
  }

  /** Returns the same together with what has been answered of documents that were only started. */
  public long bytesArrived() {
    return reads.bytesArrived();
  }

  /**
   * The members of a document that are not stored with its body, as leaves for a selector: {@code
   * _id}, {@code _rev} and, for a tombstone, {@code _deleted}.
   */
  private static final class SpecialLeaves {
    private static final byte[] ID = path("_id");
    private static final byte[] REVISION = path("_rev");
    private static final byte[] DELETED = path("_deleted");
    private static final byte[] ATTACHMENTS = path("_attachments");
    private static final byte[] CONFLICTS = path("_conflicts");
    private static final byte[] TRUE = new TupleWriter(1).bool(true).toBytes();

    private final boolean id;
    private final boolean revision;
    private final boolean deleted;

    SpecialLeaves(List<LeafRead> reads) {
      this.id = isRead(reads, ID);
      this.revision = isRead(reads, REVISION);
      this.deleted = isRead(reads, DELETED);
    }

    /** Whether the read lies wholly outside the body: names with an underscore are reserved. */
    static boolean isPart(LeafRead read) {
      return read.path().length > 1 && read.path()[0] == TupleType.STRING && read.path()[1] == '_';
    }

    /** Whether these reads look at attachments. */
    static boolean haveAttachments(List<LeafRead> reads) {
      return lookAt(reads, ATTACHMENTS);
    }

    /** Whether these reads look at the leaves that lost. */
    static boolean haveConflicts(List<LeafRead> reads) {
      return lookAt(reads, CONFLICTS);
    }

    /** Adds what the selector looks at. */
    void addTo(LeafList leaves, byte[] prefix, String docId, boolean isDeleted, RevisionId leaf) {
      if (id) {
        leaves.add(LeafPrefixes.join(prefix, ID), new TupleWriter(64).string(docId).toBytes());
      }
      if (revision) {
        byte[] text = new TupleWriter(64).string(leaf.toString()).toBytes();
        leaves.add(LeafPrefixes.join(prefix, REVISION), text);
      }
      if (deleted && isDeleted) {
        leaves.add(LeafPrefixes.join(prefix, DELETED), TRUE);
      }
    }

    private static boolean lookAt(List<LeafRead> reads, byte[] container) {
      return isRead(reads, container)
          || reads.stream().anyMatch(it -> TupleReader.isAtOrBelow(container, it.path()));
    }

    private static boolean isRead(List<LeafRead> reads, byte[] path) {
      return reads.stream().anyMatch(read -> TupleReader.isAtOrBelow(read.path(), path));
    }

    private static byte[] path(String name) {
      return new FieldPath(List.of(name)).prefixes().get(0);
    }
  }

  /** Tuple-encoded prefixes of keys and paths. */
  static final class LeafPrefixes {
    private LeafPrefixes() {}

    static byte[] join(byte[] first, byte[] second) {
      byte[] joined = Arrays.copyOf(first, first.length + second.length);
      System.arraycopy(second, 0, joined, first.length, second.length);
      return joined;
    }
  }

  /**
   * Reads parts of documents, each only as far as a selector looks, and counts the bytes read.
   * Several threads may use it, each for parts of its own.
   */
  static final class PartReads {
    private final ReadTransaction tx;
    private final LongAdder taken = new LongAdder();
    private final LongAdder arrived = new LongAdder();

    PartReads(ReadTransaction tx) {
      this.tx = tx;
    }

    /** A part that is being read. Only the beginning of a long one is read ahead. */
    interface Part {
      /**
       * @param pathOffset offset in the keys at which the paths begin
       */
      void addTo(LeafList leaves, int pathOffset);
    }

    /** Begins to read this much of what lies at and below a path. */
    Part start(byte[] body, byte[] path, Extent extent) {
      byte[] key = LeafPrefixes.join(body, path);
      return switch (extent) {
        case LEAF -> leaf(key);
        case TYPE -> first(key, false);
        case FIRST -> first(key, true);
        case ALL -> path.length == 0 ? below(key) : all(key);
      };
    }

    private Part leaf(byte[] key) {
      CompletableFuture<byte[]> reading = get(key);
      return (leaves, pathOffset) -> addLeaf(leaves, pathOffset, key, Awaiting.await(reading));
    }

    /** Begins to read one row. */
    CompletableFuture<byte[]> get(byte[] key) {
      CompletableFuture<byte[]> reading = tx.get(key);
      reading.thenAccept(value -> arrived.add(key.length + (value == null ? 0 : value.length)));
      return reading;
    }

    private void addLeaf(LeafList leaves, int pathOffset, byte[] key, byte[] value) {
      if (value != null) {
        take(leaves, pathOffset, key, value);
        addPieces(leaves, pathOffset, key, value);
      }
    }

    private Part first(byte[] key, boolean whole) {
      CompletableFuture<List<KeyValue>> reading =
          tx.getRange(key, DocumentsSubspace.endOf(key), 1, false, StreamingMode.EXACT).asList();
      return (leaves, pathOffset) -> {
        for (KeyValue row : Awaiting.await(reading)) {
          add(leaves, pathOffset, row.getKey(), row.getValue());
          if (whole && row.getKey().length == key.length) {
            addPieces(leaves, pathOffset, key, row.getValue());
          }
        }
      };
    }

    /**
     * Most values are no containers, so one key has them. To look at a key costs less than to look
     * through a range, where neither is a round trip.
     */
    private Part all(byte[] key) {
      if (TransactionRunner.isAnsweredAtOnce(tx)) {
        byte[] value = Awaiting.await(get(key));
        if (value != null) {
          return (leaves, pathOffset) -> addLeaf(leaves, pathOffset, key, value);
        }
      }
      return below(key);
    }

    private Part below(byte[] key) {
      AsyncIterator<KeyValue> reading = rows(key, DocumentsSubspace.endOf(key));
      return (leaves, pathOffset) -> addAll(leaves, pathOffset, reading);
    }

    /** Adds the further pieces of a long leaf. */
    private void addPieces(LeafList leaves, int pathOffset, byte[] key, byte[] first) {
      if (StringParts.areBegunBy(first)) {
        addAll(leaves, pathOffset, rows(StringParts.begin(key), StringParts.end(key)));
      }
    }

    private AsyncIterator<KeyValue> rows(byte[] begin, byte[] end) {
      return tx.getRange(
              begin, end, ReadTransaction.ROW_LIMIT_UNLIMITED, false, StreamingMode.WANT_ALL)
          .iterator();
    }

    private void addAll(LeafList leaves, int pathOffset, AsyncIterator<KeyValue> rows) {
      while (rows.hasNext()) {
        KeyValue row = rows.next();
        add(leaves, pathOffset, row.getKey(), row.getValue());
      }
    }

    private void add(LeafList leaves, int pathOffset, byte[] key, byte[] value) {
      arrived.add(key.length + value.length);
      take(leaves, pathOffset, key, value);
    }

    private void take(LeafList leaves, int pathOffset, byte[] key, byte[] value) {
      taken.add(key.length + value.length);
      if (key.length > pathOffset) {
        leaves.add(key, value);
      }
    }

    /** Counts what was read elsewhere. */
    void taken(int bytes) {
      taken.add(bytes);
      arrived.add(bytes);
    }

    /** Counts a row that was looked at. */
    void take(byte[] key, byte[] value) {
      taken.add(key.length + value.length);
    }

    /** Returns the same together with single keys that the store has answered, but nobody added. */
    long bytesArrived() {
      return arrived.sum();
    }
  }
}
