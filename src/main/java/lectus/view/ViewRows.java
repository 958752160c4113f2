package lectus.view;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Partition;
import lectus.json.MalformedTupleException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.Awaiting;

/**
 * The rows of one index of views.
 *
 * <pre>
 * key    (prefix, VIEW_ROWS, number, 0, doc id, part)  value  (format 1, view, sort key, dup, …)
 * key    (prefix, VIEW_ROWS, number, 1, doc id)        value  (format 1, reason, tries left)
 * key    (prefix, VIEW_ROWS, number, 2, view, 0, place…)
 *                                                      value  (format 1, key, value)
 * key    (prefix, VIEW_ROWS, number, 2, view, level[, place…])
 *                                                      value  (format 1, rows, bytes, reduction)
 * </pre>
 *
 * A place is [partition,] sort key, doc id, dup: where something that a document emitted stands in
 * a view. A sort key is a byte string ({@link EmittedKey}); dup numbers what one document emitted
 * under one sort key. Key and value are JSON as it was emitted. The rows of a document name all its
 * places, in parts of 90 kB; another row says why it has none. The levels above 0 have nodes
 * ({@link ViewTree}); the first node of a level has no place.
 *
 * <p>All is written without conflict ranges: the state of the index decides conflicts.
 */
final class ViewRows {
  /** Bytes of an emitted key and its value, as JSON. */
  static final int MAX_VALUE_BYTES = 90_000;

  /** Bytes of a key of the store; it takes 10 000. */
  static final int MAX_KEY_BYTES = 9_900;

  private static final int PART_BYTES = 90_000;
  private static final int AFTER = 0xff;
  private static final int BY_DOCUMENT = 0;
  private static final int REFUSED = 1;
  private static final int LEVELS = 2;

  private static final StoredFormat PLACES = new StoredFormat(1, "What a document has in views");
  private static final StoredFormat REASON = new StoredFormat(1, "A document that views refused");
  private static final StoredFormat ROW = new StoredFormat(1, "A row of a view");
  private static final StoredFormat NODE = new StoredFormat(1, "A node of a view");

  /** A node that is not made yet. */
  private static final byte[] MARK = encode(new Summary(0, 0, Reducer.NOTHING));

  private final byte[] prefix;
  private final boolean isPartitioned;

  /** Of which a place was read last: most are read many together. */
  private Level last = new Level(-1, 0, 0);

  /**
   * @param bytes before the places in its keys
   */
  private record Level(int view, int level, int bytes) {}

  ViewRows(DatabaseHandle db, long number, boolean partitioned) {
    this.prefix = of(db, number);
    this.isPartitioned = partitioned;
  }

  /** Returns the prefix of all rows of an index. */
  static byte[] of(DatabaseHandle db, long number) {
    return DatabaseSubspace.VIEW_ROWS.key(db.prefix()).integer(number).toBytes();
  }

  Range range() {
    return Range.startsWith(prefix);
  }

  /** A place in a view, as it is stored in a key. */
  record Place(int view, byte[] key) {}

  /** What a place consists of. */
  record PlaceParts(Optional<String> partition, byte[] sortKey, String docId, int dup) {}

  /** An emitted key and value, as JSON. */
  record Emitted(byte[] key, byte[] value) {}

  record Summary(long rows, long bytes, byte[] reduction) {}

  byte[] place(byte[] sortKey, String docId, int dup) {
    return from(Partition.ofDocument(docId), sortKey).string(docId).integer(dup).toBytes();
  }

  /** Begins the places of a sort key. */
  TupleWriter from(Optional<Partition> partition, byte[] sortKey) {
    return head(partition).bytes(sortKey);
  }

  /** Begins the places of a partition, or of all. */
  TupleWriter head(Optional<Partition> partition) {
    TupleWriter place = new TupleWriter(64);
    return isPartitioned && partition.isPresent() ? place.string(partition.get().name()) : place;
  }

  static PlaceParts parts(byte[] place) {
    TupleReader reader = new TupleReader(place, 0);
    Optional<String> partition =
        reader.isString() ? Optional.of(reader.string()) : Optional.empty();
    return new PlaceParts(
        partition, reader.bytes(), reader.string(), reader.only(TupleReader::smallInteger));
  }

  static byte[] sortKey(byte[] place) {
    TupleReader reader = new TupleReader(place, 0);
    if (reader.isString()) {
      reader.stringUtf8();
    }
    return reader.bytes();
  }

  byte[] key(int view, int level, byte[] place) {
    return level(view, level).raw(place).toBytes();
  }

  private TupleWriter level(int view, int level) {
    return new TupleWriter(prefix).integer(LEVELS).integer(view).integer(level);
  }

  /** Returns the range of a level from one place on, up to another; empty: to its end. */
  Range range(int view, int level, byte[] from, Optional<byte[]> to) {
    byte[] end =
        to.map(it -> key(view, level, it))
            .orElseGet(() -> level(view, level).octet(AFTER).toBytes());
    return new Range(key(view, level, from), end);
  }

  void clearNodes(Transaction tx, int view) {
    TupleWriter all = new TupleWriter(prefix).integer(LEVELS).integer(view);
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(level(view, 1).toBytes(), all.octet(AFTER).toBytes());
  }

  byte[] placeOf(int view, int level, KeyValue row) {
    Level its = last;
    if (its.view != view || its.level != level) {
      its = new Level(view, level, level(view, level).length());
      last = its;
    }
    return Arrays.copyOfRange(row.getKey(), its.bytes, row.getKey().length);
  }

  static Emitted emitted(byte[] value) {
    TupleReader reader = ROW.reader(value);
    return new Emitted(reader.bytes(), reader.only(TupleReader::bytes));
  }

  static byte[] encode(Emitted emitted) {
    return new TupleWriter(emitted.key().length + emitted.value().length + 8)
        .integer(ROW.number())
        .bytes(emitted.key())
        .bytes(emitted.value())
        .toBytes();
  }

  static Summary summary(byte[] value) {
    TupleReader reader = NODE.reader(value);
    return new Summary(reader.integer(), reader.integer(), reader.only(TupleReader::bytes));
  }

  static byte[] encode(Summary node) {
    return new TupleWriter(node.reduction().length + 32)
        .integer(NODE.number())
        .integer(node.rows())
        .integer(node.bytes())
        .bytes(node.reduction())
        .toBytes();
  }

  /** Marks a row that begins a node, which is made later; clears the mark of a row that goes. */
  void mark(Transaction tx, int view, byte[] place, boolean isThere) {
    put(tx, view, ViewTree.MARKED, place, isThere ? Optional.of(MARK) : Optional.empty());
  }

  /** Writes a row or a node; empty: clears it. */
  void put(Transaction tx, int view, int level, byte[] place, Optional<byte[]> value) {
    byte[] key = key(view, level, place);
    tx.options().setNextWriteNoWriteConflictRange();
    value.ifPresentOrElse(it -> tx.set(key, it), () -> tx.clear(key));
  }

  CompletableFuture<List<Place>> places(ReadTransaction tx, String docId) {
    return tx.getRange(Range.startsWith(document(docId).toBytes()))
        .asList()
        .thenApply(rows -> places(docId, rows));
  }

  /** Returns the range of what documents have. */
  Range documents() {
    return Range.startsWith(new TupleWriter(prefix).integer(BY_DOCUMENT).toBytes());
  }

  String documentOf(KeyValue row) {
    int begin = new TupleWriter(prefix).integer(BY_DOCUMENT).length();
    return new TupleReader(row.getKey(), begin).string();
  }

  List<Place> places(String docId, List<KeyValue> rows) {
    List<Place> places = new ArrayList<>();
    for (KeyValue row : rows) {
      TupleReader value = PLACES.reader(row.getValue());
      while (value.hasNext()) {
        int view = value.smallInteger();
        places.add(new Place(view, place(value.bytes(), docId, value.smallInteger())));
      }
    }
    return places;
  }

  void clearPlaces(Transaction tx, String docId) {
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(Range.startsWith(document(docId).toBytes()));
  }

  /** Writes what a document has; what it had has been cleared. */
  void putPlaces(Transaction tx, String docId, List<Place> places) {
    int part = 0;
    int next = 0;
    while (next < places.size()) {
      TupleWriter value = new TupleWriter(256).integer(PLACES.number());
      while (next < places.size() && value.length() < PART_BYTES - EmittedKey.MAX_BYTES) {
        Place place = places.get(next++);
        PlaceParts parts = parts(place.key());
        value.integer(place.view()).bytes(parts.sortKey()).integer(parts.dup());
      }
      tx.options().setNextWriteNoWriteConflictRange();
      tx.set(document(docId).integer(part++).toBytes(), value.toBytes());
    }
  }

  /** Writes why a document is in no view; empty: it is, or has nothing. */
  void putRefusal(Transaction tx, String docId, Optional<Refusal> refused) {
    byte[] reason = refused(docId);
    tx.options().setNextWriteNoWriteConflictRange();
    refused.ifPresentOrElse(
        it ->
            tx.set(
                reason,
                new TupleWriter(64)
                    .integer(REASON.number())
                    .string(it.reason())
                    .integer(it.triesLeft())
                    .toBytes()),
        () -> tx.clear(reason));
  }

  /**
   * Why a document is in no view.
   *
   * @param triesLeft how often its maps are run again although it stays as it is
   */
  record Refusal(String reason, int triesLeft) {
    /** A map that took too much time may pass when the machine has less to do. */
    private static final int TRIES = 3;

    static Refusal of(String reason) {
      return new Refusal(reason, 0);
    }

    static Refusal forNow(String reason) {
      return new Refusal(reason, TRIES);
    }

    Refusal after(Refusal former) {
      return new Refusal(reason, Math.min(triesLeft, former.triesLeft - 1));
    }

    private static Refusal decode(byte[] value) {
      TupleReader reader = REASON.reader(value);
      return new Refusal(reader.string(), reader.only(TupleReader::smallInteger));
    }
  }

  /** A document that is in no view. */
  record Refused(String docId, Refusal why) {}

  List<Refused> refused(ReadTransaction tx, int most) {
    byte[] begin = new TupleWriter(prefix).integer(REFUSED).toBytes();
    return Awaiting.await(tx.getRange(Range.startsWith(begin), most).asList()).stream()
        .map(
            row ->
                new Refused(
                    new TupleReader(row.getKey(), begin.length).only(TupleReader::string),
                    Refusal.decode(row.getValue())))
        .toList();
  }

  CompletableFuture<Optional<Refusal>> refusal(ReadTransaction tx, String docId) {
    return tx.get(refused(docId)).thenApply(it -> Optional.ofNullable(it).map(Refusal::decode));
  }

  /**
   * Checks that a row can be read.
   *
   * @throws lectus.json.MalformedTupleException it cannot
   */
  void check(KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), prefix.length);
    int part = key.smallInteger();
    if (part == LEVELS) {
      key.smallInteger();
      int level = key.smallInteger();
      boolean hasPlace = level == 0 || key.hasNext();
      if (hasPlace) {
        parts(key.rest());
      }
      if (level == 0) {
        emitted(row.getValue());
      } else {
        summary(row.getValue());
      }
      return;
    }
    String docId = key.string();
    if (part == BY_DOCUMENT) {
      key.integer();
      places(docId, List.of(row));
    } else if (part == REFUSED) {
      Refusal.decode(row.getValue());
    } else {
      throw new MalformedTupleException("There is no part " + part);
    }
    key.end();
  }

  private TupleWriter document(String docId) {
    return new TupleWriter(prefix).integer(BY_DOCUMENT).string(docId);
  }

  private byte[] refused(String docId) {
    return new TupleWriter(prefix).integer(REFUSED).string(docId).toBytes();
  }
}
