package lectus.changes.log;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;

/**
 * Documents that left the changes index without an entry, because nothing is left of them after a
 * purge. Followers, such as views, read the rows as one more shard; without followers there are
 * none. Images follow local documents, too, which have no entries: of each that was written there
 * is a mark.
 *
 * <pre>
 * key    (prefix, GONE, 0, number of a follower)       value  (format 1)
 * key    (prefix, GONE, 1, Incarnation, Versionstamp)  value  (format 1, doc id)
 * key    (prefix, GONE, 2)                             value  (format 1, name, standing, read version,
 *                                                              Incarnation, Versionstamp, name, …):
 *                                                              the images that follow
 * key    (prefix, GONE, 3, local doc id)               value  (format 1, Incarnation, Versionstamp)
 * </pre>
 *
 * A transaction that purges, or writes a local document, reads whether there are followers, with a
 * read conflict. So none misses what commits after it was registered.
 */
public final class GoneSubspace {
  private static final StoredFormat FOLLOWER = new StoredFormat(1, "A follower of changes");
  private static final StoredFormat FORMAT = new StoredFormat(1, "A document that is gone");
  private static final StoredFormat IMAGES = new StoredFormat(1, "The images that follow changes");
  private static final StoredFormat LOCAL = new StoredFormat(1, "The mark of a local document");

  /** After such a time without a sign of life an image is forgotten. A version is a microsecond. */
  private static final Duration LIFE_OF_STREAM = Duration.ofMinutes(10);

  private static final Duration LIFE_OF_CHAIN = Duration.ofDays(60);

  /** Most bytes in the value of the mark of a local document. */
  public static final int MAX_MARK_BYTES = 32;

  /** Most images that follow one database. */
  static final int MOST_IMAGES = 16;

  /** Size of the rows at which images that do not come back are no longer waited for. */
  private static final long MOST_BYTES = 256L << 20;

  /** Marks that one transaction looks at to clear them. */
  private static final int MARKS = 1_000;

  private final byte[] prefix;
  private final byte[] followers;
  private final byte[] rows;
  private final byte[] images;
  private final byte[] locals;
  private final int incarnation;
  private final long mostBytes;

  public GoneSubspace(DatabaseHandle db) {
    this(db, MOST_BYTES);
  }

  GoneSubspace(DatabaseHandle db, long mostBytes) {
    this.mostBytes = mostBytes;
    this.prefix = db.prefix();
    this.followers = DatabaseSubspace.GONE.key(db.prefix()).integer(0).toBytes();
    this.rows = DatabaseSubspace.GONE.key(db.prefix()).integer(1).toBytes();
    this.images = DatabaseSubspace.GONE.key(db.prefix()).integer(2).toBytes();
    this.locals = DatabaseSubspace.GONE.key(db.prefix()).integer(3).toBytes();
    this.incarnation = db.incarnation();
  }

  public record Gone(Sequence sequence, String docId) {}

  /**
   * An image that follows: one that is being read, or a chain of increments.
   *
   * @param standing whether it stays when its stream has ended
   * @param usedAt read version at which it was used last
   * @param since what came up to here is not needed any more
   */
  public record Image(String name, boolean standing, long usedAt, Sequence since) {
    private boolean isOver(long now) {
      return now - usedAt > (standing ? LIFE_OF_CHAIN : LIFE_OF_STREAM).toNanos() / 1_000;
    }
  }

  /** The mark of a local document: when it was written last. */
  public record Written(Sequence sequence, String docId) {}

  /** From now on rows are kept. */
  public void register(Transaction tx, long follower) {
    tx.set(follower(follower), new TupleWriter(4).integer(FOLLOWER.number()).toBytes());
  }

  /** Without followers no rows are kept. */
  public void unregister(Transaction tx, long follower) {
    tx.clear(follower(follower));
    if (!isFollowed(tx)) {
      tx.clear(Range.startsWith(rows));
    }
  }

  /** Whether anybody follows; the transaction conflicts with a change of that. */
  public boolean isFollowed(ReadTransaction tx) {
    CompletableFuture<byte[]> copied = tx.get(images);
    return !Awaiting.await(tx.getRange(Range.startsWith(followers), 1).asList()).isEmpty()
        || Awaiting.await(copied) != null;
  }

  public List<Image> images(ReadTransaction tx) {
    byte[] value = Awaiting.await(tx.get(images));
    return value == null ? List.of() : decodeImages(value);
  }

  private static List<Image> decodeImages(byte[] value) {
    TupleReader reader = IMAGES.reader(value);
    List<Image> all = new ArrayList<>();
    while (reader.hasNext()) {
      all.add(
          new Image(reader.string(), reader.bool(), reader.integer(), Sequence.readFrom(reader)));
    }
    return all;
  }

  /**
   * Registers an image, or puts it in the place of the one of its name.
   *
   * @return false if there are too many
   */
  public boolean follow(Transaction tx, Image image) {
    List<Image> all = new ArrayList<>(images(tx));
    all.removeIf(it -> it.name().equals(image.name()) || it.isOver(image.usedAt()));
    all.add(image);
    put(tx, all);
    return all.size() <= MOST_IMAGES;
  }

  /** Removes an image; returns whether it was there. */
  public boolean unfollow(Transaction tx, String name) {
    List<Image> all = new ArrayList<>(images(tx));
    boolean was = all.removeIf(it -> it.name().equals(name));
    if (was) {
      put(tx, all);
    }
    return was;
  }

  private void put(Transaction tx, List<Image> all) {
    if (all.isEmpty()) {
      tx.clear(images);
      tx.clear(Range.startsWith(locals));
      if (!isFollowed(tx)) {
        tx.clear(Range.startsWith(rows));
      }
      return;
    }
    TupleWriter value = new TupleWriter(64).integer(IMAGES.number());
    for (Image it : all) {
      value.string(it.name()).bool(it.standing()).integer(it.usedAt());
      it.since().writeTo(value);
    }
    tx.set(images, value.toBytes());
    boolean onlyImages =
        Awaiting.await(tx.getRange(Range.startsWith(followers), 1).asList()).isEmpty();
    if (onlyImages) {
      clear(tx, seen(all).orElseThrow());
    }
  }

  /** Returns up to where all images have seen everything; empty if there are none. */
  private static Optional<Sequence> seen(List<Image> all) {
    return all.stream().map(Image::since).min(Sequence::compareTo);
  }

  /**
   * Forgets images that were not used for long, and those that keep too many rows waiting: the next
   * increment of such a chain is refused.
   */
  public void bound(Transaction tx) {
    List<Image> all = images(tx);
    if (all.isEmpty()) {
      return;
    }
    long now = Awaiting.await(tx.getReadVersion());
    List<Image> kept = new ArrayList<>(all);
    kept.removeIf(it -> it.isOver(now));
    byte[] end = Range.startsWith(locals).end;
    if (Awaiting.await(tx.getEstimatedRangeSizeBytes(rows, end)) > mostBytes) {
      kept.removeIf(Image::standing);
    }
    if (kept.size() < all.size()) {
      put(tx, kept);
    }
  }

  /** Leaves a mark, if an image follows, that the transaction writes a local document. */
  public void noteLocal(Transaction tx, String docId) {
    if (Awaiting.await(tx.get(images)) != null) {
      TupleWriter value =
          new TupleWriter(MAX_MARK_BYTES).integer(LOCAL.number()).integer(incarnation);
      tx.mutate(
          MutationType.SET_VERSIONSTAMPED_VALUE, local(docId), Versionstamp.template(value, 0));
    }
  }

  /**
   * Reads marks in the order of their documents' ids.
   *
   * @param behind the id of a local document; empty: from the first one on
   */
  public List<Written> writtenLocals(ReadTransaction tx, String behind, int limit) {
    Range all = Range.startsWith(locals);
    byte[] begin = behind.isEmpty() ? all.begin : after(local(behind));
    return Awaiting.await(tx.getRange(begin, all.end, limit).asList()).stream()
        .map(this::decodeLocal)
        .toList();
  }

  /**
   * Removes those of the next marks that all images have seen.
   *
   * @param behind as in {@link #writtenLocals}
   * @return the id of the last one that was looked at; empty if there are no more
   */
  public Optional<String> clearMarks(Transaction tx, String behind) {
    Optional<Sequence> seen = seen(images(tx));
    List<Written> some = writtenLocals(tx.snapshot(), behind, MARKS);
    for (Written mark : some) {
      if (seen.filter(it -> mark.sequence().compareTo(it) <= 0).isPresent()) {
        byte[] key = local(mark.docId());
        // The mark of a document that is being written stays.
        tx.addReadConflictKey(key);
        tx.clear(key);
      }
    }
    return some.size() < MARKS ? Optional.empty() : Optional.of(some.get(MARKS - 1).docId());
  }

  private byte[] local(String docId) {
    return new TupleWriter(locals).string(docId).toBytes();
  }

  private Written decodeLocal(KeyValue row) {
    return new Written(
        LOCAL.reader(row.getValue()).only(Sequence::readFrom),
        new TupleReader(row.getKey(), locals.length).only(TupleReader::string));
  }

  /**
   * @param numberInTransaction 0 to 65 535, different for each document of the transaction
   */
  public void insert(Transaction tx, int numberInTransaction, String docId) {
    TupleWriter key = new TupleWriter(rows).integer(incarnation);
    tx.options().setNextWriteNoWriteConflictRange();
    tx.mutate(
        MutationType.SET_VERSIONSTAMPED_KEY,
        Versionstamp.template(key, numberInTransaction),
        new TupleWriter(64).integer(FORMAT.number()).string(docId).toBytes());
  }

  /** Reads the oldest rows after a sequence; of all if it is empty. */
  public CompletableFuture<List<Gone>> after(
      ReadTransaction tx, Optional<Sequence> after, int limit) {
    return EntryRows.read(
            tx,
            new TupleWriter(rows),
            EntryRange.after(after, limit),
            (sequence, value) -> new Gone(sequence, idIn(value)))
        .thenApply(EntryRows::entries);
  }

  public boolean hasMoreThan(ReadTransaction tx, Optional<Sequence> after, int limit) {
    return Awaiting.await(after(tx, after, limit + 1)).size() > limit;
  }

  public Range range() {
    return DatabaseSubspace.GONE.range(prefix);
  }

  /**
   * Checks that a row can be read.
   *
   * @throws lectus.json.MalformedTupleException it cannot
   */
  public void check(KeyValue row) {
    if (TupleReader.isAtOrBelow(rows, row.getKey())) {
      new TupleReader(row.getKey(), rows.length).only(Sequence::readFrom);
      idIn(row.getValue());
    } else if (TupleReader.isAtOrBelow(locals, row.getKey())) {
      decodeLocal(row);
    } else if (Arrays.equals(images, row.getKey())) {
      decodeImages(row.getValue());
    } else {
      new TupleReader(row.getKey(), followers.length).only(TupleReader::integer);
      FOLLOWER.only(row.getValue());
    }
  }

  private static String idIn(byte[] value) {
    return FORMAT.reader(value).only(TupleReader::string);
  }

  /** Removes the rows up to a sequence, which all followers have seen that are no images. */
  public void clear(Transaction tx, Sequence until) {
    Sequence all = seen(images(tx.snapshot())).filter(it -> it.compareTo(until) < 0).orElse(until);
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(rows, EntryRows.behind(rows, all));
  }

  private byte[] follower(long number) {
    return new TupleWriter(followers).integer(number).toBytes();
  }

  private static byte[] after(byte[] key) {
    return Arrays.copyOf(key, key.length + 1);
  }
}
