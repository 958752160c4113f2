package lectus.image;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import lectus.attachment.AttachmentList;
import lectus.attachment.ChunksSubspace;
import lectus.attachment.ContentId;
import lectus.attachment.ContentsSubspace;
import lectus.attachment.ContentsSubspace.StoredContent;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.GoneSubspace;
import lectus.changes.log.GoneSubspace.Gone;
import lectus.changes.log.GoneSubspace.Image;
import lectus.changes.log.GoneSubspace.Written;
import lectus.changes.log.PurgesSubspace;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseRequest;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.derived.DerivedRow;
import lectus.derived.StoredFeed;
import lectus.derived.rows.FeedRows;
import lectus.document.DatabaseReads;
import lectus.document.DocumentsSubspace;
import lectus.document.PagedBody;
import lectus.document.RevisionMetadata;
import lectus.document.list.LocalDocsSubspace;
import lectus.document.list.LocalDocsSubspace.LocalRow;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.image.ImageFrame.Abandoned;
import lectus.image.ImageFrame.Chunk;
import lectus.image.ImageFrame.Content;
import lectus.image.ImageFrame.Departures;
import lectus.image.ImageFrame.Document;
import lectus.image.ImageFrame.DocumentLeaf;
import lectus.image.ImageFrame.Header;
import lectus.image.ImageFrame.Local;
import lectus.image.ImageFrame.Purges;
import lectus.image.ImageFrame.Settings;
import lectus.json.JsonBuffer;
import lectus.metrics.Tasks.RunningTask;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;
import lectus.tuple.TupleReader;

/**
 * Reads the image of a database part by part while writers go on. It follows the changes index from
 * its beginning, or from the sequence of an increment: a document that is written meanwhile comes
 * again. The image is the database as of the transaction that finds nothing more to read. What
 * leaves no entry comes as rows that {@link GoneSubspace} keeps while an image follows.
 *
 * <p>It has one part in memory, of some hundred kilobytes and at most one leaf more.
 */
public final class ImageReading implements PagedBody, AutoCloseable {
  private static final int PART_BYTES = 256 << 10;

  /** Chunks of a content in one transaction. */
  private static final int CHUNKS_AT_ONCE = 8;

  /** Contents of which it is remembered that they were sent. */
  private static final int MOST_SENT = 100_000;

  private static final long RENEWAL_NANOS = Duration.ofSeconds(20).toNanos();
  private static final long MOST_MILLIS = 250;
  private static final int PAUSES = 3;
  private static final int NAME_BYTES = 8;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final DatabaseRequest asked;
  private final DatabaseReads reads;
  private final Asked what;
  private final String follower;
  private final InstantSource clock;
  private final BooleanSupplier requestsWait;
  private final RunningTask task;
  private final ImageWriter writer = new ImageWriter();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final AtomicBoolean forgotten = new AtomicBoolean();
  private final Set<ContentId> pending = new LinkedHashSet<>();
  private final Map<ContentId, Boolean> sent =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ContentId, Boolean> eldest) {
          return size() > MOST_SENT;
        }
      };

  private Optional<Image> image = Optional.empty();
  private Optional<ImagePage.Place> place = Optional.empty();
  private Optional<Copying> copying = Optional.empty();
  private Optional<Sequence> last = Optional.empty();
  private long renewedNanos;

  /** About how many documents there were in the beginning; 0 for an increment. */
  private long documents;

  private long partNanos;

  /**
   * An image that is asked for.
   *
   * @param since empty: the whole image
   * @param follower the name under which increments may follow; empty if none may
   */
  public record Asked(Optional<Sequence> since, Optional<String> follower) {}

  /** A content of which some chunks were sent. */
  private record Copying(ContentId id, StoredContent content, long chunk) {
    long chunks() {
      return (content.length() + content.chunkBytes() - 1) / content.chunkBytes();
    }
  }

  public ImageReading(
      Store store,
      Catalogue catalogue,
      InstantSource clock,
      DatabaseRequest asked,
      Asked what,
      BooleanSupplier requestsWait) {
    this.requestsWait = requestsWait;
    this.catalogue = catalogue;
    this.transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.asked = asked;
    this.reads = new DatabaseReads(catalogue, transactions, asked);
    this.what = what;
    this.follower = what.follower().orElseGet(ImageReading::anyName);
    this.clock = clock;
    this.task = store.tasks().begin("backup", asked.name().text());
  }

  /** No name that a client can give. */
  private static String anyName() {
    byte[] random = new byte[NAME_BYTES];
    RANDOM.nextBytes(random);
    return "~" + HexFormat.of().formatHex(random);
  }

  /**
   * @throws LectusException {@code no_follower} (412) if the increment is not possible any more
   */
  @Override
  public boolean appendNext(JsonBuffer out) {
    long begun = System.nanoTime();
    int enough = out.length() + PART_BYTES;
    boolean more = true;
    while (more && out.length() < enough) {
      more = appendNextStep(out);
    }
    partNanos = System.nanoTime() - begun;
    return more;
  }

  /**
   * While requests wait it takes a quarter of the time. But once it has sent as many documents as
   * there were it has to be faster than the writers that it follows.
   */
  @Override
  public long pauseMillis() {
    boolean hasTime = task.done() < documents && requestsWait.getAsBoolean();
    return hasTime ? Math.min(MOST_MILLIS, PAUSES * Duration.ofNanos(partNanos).toMillis() + 1) : 0;
  }

  /** Appends what one transaction reads; returns whether there is more. */
  boolean appendNextStep(JsonBuffer out) {
    if (place.isEmpty()) {
      begin(out);
    }
    renew();
    return step(out);
  }

  private void begin(JsonBuffer out) {
    Header header = transactions.run(this::begin);
    place = Optional.of(ImagePage.Place.at(image.orElseThrow().since(), what.since()));
    renewedNanos = System.nanoTime();
    writer.begin(header, out);
  }

  private Header begin(Transaction tx) {
    DatabaseHandle db = asked.current(tx, catalogue);
    catalogue.guard(tx, db);
    GoneSubspace gone = new GoneSubspace(db);
    what.since().ifPresent(since -> requireFollowed(gone.images(tx), since));
    Image following =
        new Image(
            follower,
            what.follower().isPresent(),
            Awaiting.await(tx.getReadVersion()),
            what.since().orElseGet(() -> ImagePage.lastOf(tx, db)));
    if (!gone.follow(tx, following)) {
      throw LectusException.badRequest("Too many images of the database follow it; drop some.");
    }
    image = Optional.of(following);
    if (what.since().isEmpty()) {
      documents = Awaiting.await(DatabaseCounters.entries(tx, db));
      task.outOf(documents);
    }
    return new Header(
        db.name().text(),
        db.instance(),
        db.incarnation(),
        db.createdAtSeconds(),
        clock.instant().getEpochSecond(),
        what.since());
  }

  private void requireFollowed(List<Image> images, Sequence since) {
    boolean isFollowed =
        images.stream()
            .filter(it -> what.follower().isEmpty() || it.name().equals(follower))
            .anyMatch(it -> it.since().compareTo(since) <= 0);
    if (!isFollowed) {
      throw noFollower();
    }
  }

  private static LectusException noFollower() {
    return new LectusException(
        new LectusError.PreconditionFailed(
            "no_follower",
            "Nothing has followed the database since that sequence. Begin with a whole image."));
  }

  /** A stream that takes long is not forgotten. */
  private void renew() {
    if (System.nanoTime() - renewedNanos > RENEWAL_NANOS) {
      transactions.run(
          tx -> {
            DatabaseHandle db = asked.current(tx, catalogue);
            GoneSubspace gone = new GoneSubspace(db);
            if (gone.images(tx).stream().noneMatch(it -> it.name().equals(follower))) {
              throw noFollower();
            }
            Image before = image.orElseThrow();
            long now = Awaiting.await(tx.getReadVersion());
            gone.follow(tx, new Image(follower, before.standing(), now, before.since()));
            return null;
          });
      renewedNanos = System.nanoTime();
    }
  }

  private boolean step(JsonBuffer out) {
    if (copying.isPresent()) {
      copy(copying.get(), out);
    } else if (!pending.isEmpty() && !place.orElseThrow().isWithinDocument()) {
      beginContent(out);
    } else if (last.isPresent()) {
      writer.end(last.get(), out);
      close();
      return false;
    } else {
      page(out);
    }
    return true;
  }

  /** Returns the sequence at which everything was read; empty before. */
  Optional<Sequence> last() {
    return last;
  }

  private void page(JsonBuffer out) {
    ImagePage page = reads.read((tx, db) -> new ImagePage(tx, db, place.orElseThrow()).read());
    place = Optional.of(page.place());
    page.frames().forEach(frame -> writer.append(frame, out));
    task.advance(page.frames().stream().filter(Document.class::isInstance).count());
    page.contents().stream().filter(it -> !sent.containsKey(it)).forEach(pending::add);
    last = page.last();
  }

  /** A content that is not there any more belongs to a document that comes again. */
  private void beginContent(JsonBuffer out) {
    ContentId id = pending.iterator().next();
    pending.remove(id);
    Optional<StoredContent> found =
        reads.read((tx, db) -> Awaiting.await(new ContentsSubspace(db.prefix()).get(tx, id)));
    if (found.isEmpty()) {
      last = Optional.empty();
      return;
    }
    StoredContent content = found.get();
    writer.append(new Content(id, content.md5(), content.length(), content.plainLength()), out);
    copying = Optional.of(new Copying(id, content, 0)).filter(it -> it.chunks() > 0);
    sent.put(id, true);
  }

  private void copy(Copying now, JsonBuffer out) {
    long to = Math.min(now.chunks(), now.chunk() + CHUNKS_AT_ONCE);
    Optional<List<byte[]>> chunks = reads.read((tx, db) -> chunks(tx, db, now, to));
    if (chunks.isEmpty()) {
      writer.append(new Abandoned(), out);
      sent.remove(now.id());
      last = Optional.empty();
      copying = Optional.empty();
      return;
    }
    chunks.get().forEach(bytes -> writer.append(new Chunk(bytes), out));
    copying = Optional.of(new Copying(now.id(), now.content(), to)).filter(it -> to < it.chunks());
  }

  private static Optional<List<byte[]>> chunks(
      ReadTransaction tx, DatabaseHandle db, Copying now, long to) {
    ChunksSubspace chunks = new ChunksSubspace(db.prefix());
    List<CompletableFuture<byte[]>> reading = new ArrayList<>();
    for (long number = now.chunk(); number < to; number++) {
      reading.add(chunks.get(tx, now.content().upload(), number));
    }
    List<byte[]> read = reading.stream().map(Awaiting::await).toList();
    return read.contains(null) ? Optional.empty() : Optional.of(read);
  }

  @Override
  public void abandon() {
    close();
  }

  /**
   * An image that nothing follows is forgotten. It may have begun only after it was closed, so this
   * may be called again. Waits for the store.
   */
  @Override
  public void close() {
    if (!closed.getAndSet(true)) {
      task.close();
    }
    if (image.isPresent() && what.follower().isEmpty() && !forgotten.getAndSet(true)) {
      drop(transactions, catalogue, asked, follower);
    }
  }

  /** Drops a follower; returns whether there was one. */
  private static boolean drop(
      TransactionRunner transactions, Catalogue catalogue, DatabaseRequest asked, String name) {
    return transactions.run(
        tx -> {
          DatabaseHandle db = asked.current(tx, catalogue);
          catalogue.guard(tx, db);
          return new GoneSubspace(db).unfollow(tx, name);
        });
  }

  /**
   * Drops a chain: no increment of it is possible any more.
   *
   * @return whether it was there
   */
  public static boolean drop(Store store, Catalogue catalogue, DatabaseRequest asked, String name) {
    return drop(new TransactionRunner(store, TransactionLimits.DEFAULT), catalogue, asked, name);
  }

  /**
   * What one transaction reads of an image: what is gone first, so that a document that was written
   * again comes behind that, and then as much as a page may have. The first page that has room for
   * everything is the last one.
   */
  static final class ImagePage {
    private static final int MOST_BYTES = 512 << 10;
    private static final int ROWS = 200;
    private static final int MOST_GONE = 2_000;

    /** Documents whose reads are begun together. */
    private static final int WINDOW = 64;

    /** Rows of a document or a local document besides its body and history, about. */
    private static final int BYTES_BESIDE = 200;

    private static final int REVISION_BYTES = 18;

    private final ReadTransaction tx;
    private final DatabaseHandle db;
    private final Place place;
    private final List<ImageFrame> frames = new ArrayList<>();
    private final Set<ContentId> contents = new LinkedHashSet<>();
    private final RevisionsSubspace revisions;
    private final DocumentsSubspace documents;
    private final List<FeedRows> feeds;
    private long bytes;
    private Optional<Sequence> last = Optional.empty();

    ImagePage(ReadTransaction tx, DatabaseHandle db, Place before) {
      this.tx = tx;
      this.db = db;
      this.place = new Place(before);
      this.revisions = new RevisionsSubspace(db);
      this.documents = new DocumentsSubspace(db);
      this.feeds = new ArrayList<>();
      for (StoredFeed feed : db.feeds().all()) {
        feeds.add(new FeedRows(tx, db, feed));
      }
    }

    /** How far an image was read. Each page goes on from that of the one before. */
    static final class Place {
      private final Optional<Sequence> since;

      /** The last entry that was read of each changes shard. */
      private final Map<ShardId, Sequence> shards;

      private Optional<ShardId> shard;
      private Sequence gone;
      private Optional<Sequence> purged;

      /** The first key of local documents that was not read; empty when all were. */
      private Optional<byte[]> local;

      private Written mark;

      /** As of the settings that were read last. */
      private Optional<DatabaseHandle> db;

      private List<KeyValue> settings;
      private Optional<Half> half;

      private Place(Sequence begun, Optional<Sequence> since) {
        this.since = since;
        this.shards = new HashMap<>();
        this.shard = Optional.empty();
        this.gone = begun;
        this.purged = since;
        this.local = since.isPresent() ? Optional.empty() : Optional.of(new byte[0]);
        this.mark = new Written(begun, "");
        this.db = Optional.empty();
        this.settings = List.of();
        this.half = Optional.empty();
      }

      private Place(Place other) {
        this.since = other.since;
        this.shards = new HashMap<>(other.shards);
        this.shard = other.shard;
        this.gone = other.gone;
        this.purged = other.purged;
        this.local = other.local;
        this.mark = other.mark;
        this.db = other.db;
        this.settings = other.settings;
        this.half = other.half;
      }

      /**
       * @param begun from where on something was kept for the image that has no entry
       * @param since empty: the whole image
       */
      static Place at(Sequence begun, Optional<Sequence> since) {
        return new Place(begun, since);
      }

      /** Whether leaves of a document are still to come. */
      boolean isWithinDocument() {
        return half.isPresent();
      }
    }

    /** A document of which not all leaves fitted into a page. */
    private record Half(
        String id,
        Sequence sequence,
        List<EditBranch> branches,
        int next,
        List<KeyValue> departures) {}

    Place place() {
      return place;
    }

    List<ImageFrame> frames() {
      return frames;
    }

    /** Returns the contents that its leaves show. */
    Set<ContentId> contents() {
      return contents;
    }

    /** Returns the sequence at which the image is whole; empty if more has to be read. */
    Optional<Sequence> last() {
      return last;
    }

    /** Returns the last sequence of a database; one before all if nothing was ever written. */
    static Sequence lastOf(ReadTransaction tx, DatabaseHandle db) {
      ChangesSubspace changes = new ChangesSubspace(db);
      List<CompletableFuture<Optional<Sequence>>> reading =
          new ArrayList<>(shards(db, Optional.empty()).map(it -> changes.last(tx, it)).toList());
      reading.add(new PurgesSubspace(db).last(tx));
      return reading.stream()
          .flatMap(it -> Awaiting.await(it).stream())
          .max(Sequence::compareTo)
          .orElse(new Sequence(db.incarnation(), Versionstamp.ZERO.bytes()));
    }

    private static Stream<ShardId> shards(DatabaseHandle db, Optional<Sequence> since) {
      return db.topology().from(since).stream().flatMap(it -> it.shards().stream());
    }

    ImagePage read() {
      // Nothing comes between the leaves of a document.
      if (!goOn()) {
        return this;
      }
      if (place.db.filter(it -> it == db).isEmpty()) {
        settings();
      }
      boolean isAll = gone() && purges() && locals() && documents() && marks();
      if (isAll) {
        settings();
        Sequence read = lastOf(tx, db);
        last = Optional.of(place.since.filter(it -> it.compareTo(read) > 0).orElse(read));
      }
      return this;
    }

    private boolean isFull() {
      return bytes >= MOST_BYTES;
    }

    private void add(ImageFrame frame, long size) {
      frames.add(frame);
      bytes += size + BYTES_BESIDE;
    }

    /** Reads the rows that say how the database is set up, and adds them if they have changed. */
    private void settings() {
      List<KeyValue> rows = new ArrayList<>(Awaiting.await(Catalogue.portable(tx, db)));
      for (DatabaseSubspace part :
          List.of(
              DatabaseSubspace.DERIVED,
              DatabaseSubspace.AUTO_PURGE,
              DatabaseSubspace.NUMBERS,
              DatabaseSubspace.VIEWS)) {
        for (KeyValue row : Awaiting.await(tx.getRange(part.range(db.prefix())).asList())) {
          if (isSetting(part, row.getKey())) {
            rows.add(relative(row));
          }
        }
      }
      if (!rows.equals(place.settings)) {
        add(new Settings(rows), rows.size());
      }
      place.settings = rows;
      place.db = Optional.of(db);
    }

    /** Not how far views are, nor how far tombstones were swept. */
    private boolean isSetting(DatabaseSubspace part, byte[] key) {
      return switch (part) {
        case AUTO_PURGE -> number(part, key) == 0;
        case VIEWS -> number(part, key) <= 1;
        default -> true;
      };
    }

    private long number(DatabaseSubspace part, byte[] key) {
      return new TupleReader(key, part.key(db.prefix()).length()).integer();
    }

    private KeyValue relative(KeyValue row) {
      byte[] key = row.getKey();
      return new KeyValue(Arrays.copyOfRange(key, db.prefix().length, key.length), row.getValue());
    }

    private boolean gone() {
      List<Gone> rows =
          Awaiting.await(new GoneSubspace(db).after(tx, Optional.of(place.gone), MOST_GONE));
      rows.forEach(it -> add(new ImageFrame.Gone(it.docId(), it.sequence()), it.docId().length()));
      if (!rows.isEmpty()) {
        place.gone = rows.get(rows.size() - 1).sequence();
      }
      return rows.size() < MOST_GONE;
    }

    private boolean purges() {
      PurgesSubspace purges = new PurgesSubspace(db);
      List<KeyValue> rows = Awaiting.await(purges.rows(tx, place.purged, ROWS));
      List<KeyValue> taken = new ArrayList<>();
      for (KeyValue row : rows) {
        if (!isFull()) {
          taken.add(relative(row));
          bytes += row.getValue().length;
          place.purged = Optional.of(purges.decode(row).sequence());
        }
      }
      if (!taken.isEmpty()) {
        add(new Purges(taken), 0);
      }
      return taken.size() < ROWS && taken.size() == rows.size();
    }

    /** Local documents that there were in the beginning. */
    private boolean locals() {
      if (place.local.isEmpty()) {
        return true;
      }
      LocalDocsSubspace subspace = new LocalDocsSubspace(db);
      byte[] from = place.local.get();
      byte[] begin = from.length == 0 ? subspace.begin() : from;
      List<KeyValue> rows =
          Awaiting.await(tx.getRange(new Range(begin, subspace.end()), ROWS).asList());
      for (KeyValue row : rows) {
        if (isFull()) {
          place.local = Optional.of(row.getKey());
          return false;
        }
        local(subspace, Optional.of(subspace.decode(row)), "");
        place.local = Optional.of(Arrays.copyOf(row.getKey(), row.getKey().length + 1));
      }
      if (rows.size() < ROWS) {
        place.local = Optional.empty();
      }
      return rows.size() < ROWS;
    }

    private void local(LocalDocsSubspace subspace, Optional<LocalRow> row, String id) {
      if (row.isEmpty()) {
        add(new Local(id, OptionalLong.empty(), ImageFrame.Body.NONE), id.length());
        return;
      }
      LocalRow found = row.get();
      byte[] key = subspace.body(found.id());
      ImageFrame.Body body = ImageBodies.read(tx, key, Awaiting.await(tx.get(key)));
      long number = Long.parseLong(found.revision().hash().text(0));
      add(new Local(found.id(), OptionalLong.of(number), body), body.bytes().length);
    }

    /** Local documents that were written meanwhile. */
    private boolean marks() {
      LocalDocsSubspace subspace = new LocalDocsSubspace(db);
      List<Written> marks = new GoneSubspace(db).writtenLocals(tx, place.mark, ROWS);
      for (Written mark : marks) {
        if (isFull()) {
          return false;
        }
        local(subspace, Awaiting.await(subspace.row(tx, mark.docId())), mark.docId());
        place.mark = mark;
      }
      return marks.size() < ROWS;
    }

    private boolean documents() {
      List<ShardId> shards = shards(db, place.since).toList();
      int first = place.shard.map(shards::indexOf).filter(it -> it >= 0).orElse(0);
      for (int i = 0; i < shards.size(); i++) {
        ShardId shard = shards.get((first + i) % shards.size());
        if (!documents(shard)) {
          place.shard = Optional.of(shard);
          return false;
        }
      }
      return true;
    }

    /** Returns whether it came to the shard's end. */
    private boolean documents(ShardId shard) {
      ChangesSubspace changes = new ChangesSubspace(db);
      while (!isFull()) {
        Optional<Sequence> after =
            Optional.ofNullable(place.shards.get(shard)).or(() -> place.since);
        List<ChangeEntry> entries =
            Awaiting.await(changes.read(tx, shard, after, Optional.empty(), WINDOW, false));
        List<Reading> begun = entries.stream().map(this::begin).toList();
        for (Reading reading : begun) {
          if (isFull()) {
            return false;
          }
          place.shards.put(shard, reading.entry.sequence());
          if (!document(reading)) {
            return false;
          }
        }
        if (entries.size() < WINDOW) {
          return true;
        }
      }
      return false;
    }

    /** A document whose branches and first body are being read. */
    private record Reading(
        ChangeEntry entry,
        CompletableFuture<List<EditBranch>> branches,
        CompletableFuture<byte[]> first) {}

    private Reading begin(ChangeEntry entry) {
      String id = entry.docId();
      CompletableFuture<List<EditBranch>> branches =
          entry.branchCount() == 1
              ? revisions
                  .branch(tx, id, entry.deleted(), entry.winner())
                  .thenApply(it -> it.stream().toList())
              : revisions.branches(tx, id);
      return new Reading(
          entry, branches, tx.get(documents.revision(id, entry.deleted(), entry.winner())));
    }

    private boolean document(Reading reading) {
      ChangeEntry entry = reading.entry;
      List<EditBranch> branches = Awaiting.await(reading.branches);
      if (branches.isEmpty()) {
        throw new IllegalStateException(
            "The document " + entry.docId() + " of " + db.name() + " has no edit branch");
      }
      List<KeyValue> departures = new ArrayList<>();
      for (FeedRows feed : feeds) {
        for (DerivedRow row : feed.departuresOf(entry.docId())) {
          departures.add(relative(new KeyValue(row.key(), row.value().orElseThrow())));
        }
      }
      add(
          new Document(entry.docId(), entry.sequence(), branches.size(), !departures.isEmpty()),
          entry.docId().length());
      leaf(entry.docId(), branches.get(0), reading.first);
      return leaves(new Half(entry.docId(), entry.sequence(), branches, 1, departures));
    }

    /** A document that changed meanwhile comes again. */
    private boolean goOn() {
      if (place.half.isEmpty()) {
        return true;
      }
      Half half = place.half.get();
      place.half = Optional.empty();
      boolean isSame =
          Awaiting.await(revisions.winner(tx, half.id))
              .filter(it -> it.winner().sequence().equals(half.sequence))
              .isPresent();
      if (isSame) {
        return leaves(half);
      }
      add(new Abandoned(), 0);
      return true;
    }

    /** Returns whether all leaves are in the page. */
    private boolean leaves(Half half) {
      for (int i = half.next; i < half.branches.size(); i++) {
        if (isFull()) {
          place.half =
              Optional.of(new Half(half.id, half.sequence, half.branches, i, half.departures));
          return false;
        }
        EditBranch branch = half.branches.get(i);
        leaf(half.id, branch, tx.get(documents.revision(half.id, branch.deleted(), branch.leaf())));
      }
      if (!half.departures.isEmpty()) {
        add(new Departures(half.departures), 0);
        half.departures.forEach(row -> bytes += row.getKey().length + row.getValue().length);
      }
      return true;
    }

    private void leaf(String id, EditBranch branch, CompletableFuture<byte[]> first) {
      byte[] value = Awaiting.await(first);
      byte[] key = documents.revision(id, branch.deleted(), branch.leaf());
      AttachmentList attachments =
          value == null ? AttachmentList.NONE : RevisionMetadata.of(value).attachments();
      contents.addAll(attachments.contents());
      ImageFrame.Body body = ImageBodies.read(tx, key, value);
      add(
          new DocumentLeaf(
              branch.leaf(), branch.deleted(), branch.ancestors().toList(), attachments, body),
          body.bytes().length + (long) REVISION_BYTES * branch.length());
    }
  }
}
