package lectus.image;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import lectus.attachment.ChunksSubspace;
import lectus.attachment.ContentId;
import lectus.attachment.ContentsSubspace;
import lectus.attachment.ContentsSubspace.StoredContent;
import lectus.changes.log.GoneSubspace;
import lectus.changes.log.GoneSubspace.Image;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseRequest;
import lectus.database.Sequence;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.document.DatabaseReads;
import lectus.document.PagedBody;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.image.ImageFrame.Abandoned;
import lectus.image.ImageFrame.Chunk;
import lectus.image.ImageFrame.Content;
import lectus.image.ImageFrame.Document;
import lectus.image.ImageFrame.Header;
import lectus.image.ImageFrame.Reached;
import lectus.json.JsonBuffer;
import lectus.json.MalformedTupleException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.metrics.Tasks.RunningTask;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/**
 * Reads the image of a database part by part while writers go on: the documents in the order in
 * which they lie in the store, and then, or from the sequence of an increment, those that the
 * changes index has since. A document that is written meanwhile comes again. The image is the
 * database as of the transaction that finds nothing more to read. What leaves no entry comes as
 * rows that {@link GoneSubspace} keeps while an image follows.
 *
 * <p>It has one part in memory, of some hundred kilobytes and at most one leaf more.
 */
public final class ImageReading implements PagedBody, AutoCloseable {
  private static final int PART_BYTES = 256 << 10;

  /** Chunks of a content in one transaction. */
  private static final int CHUNKS_AT_ONCE = 8;

  /** Contents of which it is remembered that they were sent. */
  private static final int MOST_SENT = 100_000;

  /** Memory of one of these, about. */
  private static final long SENT_BYTES = 150;

  private static final long RENEWAL_NANOS = Duration.ofSeconds(20).toNanos();
  private static final long MOST_MILLIS = 500;
  private static final int PAUSES = 7;

  /** Requests that come one after the other are not seen each time that one looks. */
  private static final int CALM_LOOKS = 10;

  private static final int NAME_BYTES = 8;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final DatabaseRequest asked;
  private final DatabaseReads reads;
  private final Asked what;
  private final Optional<Sequence> since;
  private final String follower;
  private final InstantSource clock;
  private final BooleanSupplier requestsWait;
  private final RunningTask task;
  private final ImageWriter writer = new ImageWriter();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final AtomicBoolean forgotten = new AtomicBoolean();
  private final Set<ContentId> pending = new LinkedHashSet<>();
  private final Sent sent;

  private Optional<Image> image = Optional.empty();
  private Optional<ImagePage.Place> place;
  private Optional<Copying> copying = Optional.empty();
  private Optional<Sequence> last = Optional.empty();
  private long renewedNanos;

  /** About how many documents there were in the beginning; 0 for an increment. */
  private long documents;

  private long partNanos;

  /** Whether it has sent fewer documents than there were, before the last page. */
  private boolean hasTime;

  /** How often no request was seen to wait since one was. */
  private int calmLooks = CALM_LOOKS;

  /** Whether it begins where another stream broke off, and no page was read yet. */
  private boolean goesOn;

  /** Bytes since it was told how far the image has come. */
  private long untoldBytes;

  /**
   * An image that is asked for.
   *
   * @param since empty: the whole image
   * @param follower the name under which increments may follow; empty if none may
   * @param held contents that its reader has, which are left out
   * @param copy of which it is a part, if that can go on where it broke off
   */
  public record Asked(
      Optional<Sequence> since,
      Optional<String> follower,
      Predicate<ContentId> held,
      Optional<ResumableCopy> copy) {
    public Asked(Optional<Sequence> since, Optional<String> follower) {
      this(since, follower, any -> false, Optional.empty());
    }
  }

  /** Contents that were sent lately. */
  private static final class Sent extends LinkedHashMap<ContentId, Boolean> {
    private static final long serialVersionUID = 1;

    @Override
    protected boolean removeEldestEntry(Map.Entry<ContentId, Boolean> eldest) {
      return size() > MOST_SENT;
    }
  }

  /**
   * An image and its increments, with marks from where another stream can go on if this one breaks
   * off. There are marks as long as the database has the settings that it had at first: what is
   * stored elsewhere depends on all that there were. Used by one thread.
   */
  public static final class ResumableCopy {
    private static final StoredFormat FORMAT = new StoredFormat(1, "A place in an image");

    /** Longest mark, in bytes: a database may have had very many shards. */
    private static final int LONGEST = 50_000;

    private final long bytesBetween;
    private final Sent sent = new Sent();
    private Optional<ImagePage.Place> begin = Optional.empty();
    private Optional<byte[]> settings = Optional.empty();
    private long documents;
    private boolean isImpossible;

    /**
     * @param bytesBetween two marks, about
     * @param mark from where it goes on; empty: from the beginning
     */
    public ResumableCopy(long bytesBetween, Optional<byte[]> mark) {
      this.bytesBetween = bytesBetween;
      mark.ifPresent(this::read);
    }

    private void read(byte[] mark) {
      try {
        TupleReader it = FORMAT.reader(mark);
        settings = Optional.of(it.bytes());
        documents = it.integer();
        begin = Optional.of(ImagePage.Place.of(it));
      } catch (MalformedTupleException | IllegalArgumentException unreadable) {
        isImpossible = true;
      }
    }

    /** Whether it cannot go on from its mark, but has to begin anew. */
    public boolean isImpossible() {
      return isImpossible;
    }

    private LectusException impossible() {
      isImpossible = true;
      return new LectusException(
          new LectusError.NotNow("The copy cannot go on where it broke off. It begins anew."));
    }

    private Optional<byte[]> mark(ImagePage.Place place, long done) {
      if (!hasSettings(place)) {
        return Optional.empty();
      }
      TupleWriter mark = new TupleWriter(256).integer(FORMAT.number());
      place.writeTo(mark.bytes(settings.orElseThrow()).integer(done));
      return Optional.of(mark.toBytes()).filter(it -> it.length <= LONGEST);
    }

    private boolean hasSettings(ImagePage.Place place) {
      byte[] now = place.settings();
      if (settings.isEmpty()) {
        settings = Optional.of(now);
      }
      return Arrays.equals(settings.get(), now);
    }
  }

  /** A content of which some chunks were sent. */
  private record Copying(ContentId id, StoredContent content, long chunk) {
    long chunks() {
      return (content.length() + content.chunkBytes() - 1) / content.chunkBytes();
    }
  }

  /**
   * @param task counts documents, and ends with the image
   */
  public ImageReading(
      Store store,
      Catalogue catalogue,
      InstantSource clock,
      DatabaseRequest asked,
      Asked what,
      BooleanSupplier requestsWait,
      RunningTask task) {
    this.requestsWait = requestsWait;
    this.catalogue = catalogue;
    this.transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.asked = asked;
    this.reads = new DatabaseReads(catalogue, transactions, asked);
    this.what = what;
    this.follower = what.follower().orElseGet(ImageReading::anyName);
    this.clock = clock;
    this.task = task;
    // Increments that come in the same stream need no content again.
    this.sent = what.copy().map(copy -> copy.sent).orElseGet(Sent::new);
    this.place = what.copy().flatMap(copy -> copy.begin);
    this.goesOn = place.isPresent();
    this.since = goesOn ? place.get().since() : what.since();
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
    look();
    int enough = out.length() + PART_BYTES;
    boolean more = true;
    while (more && out.length() < enough) {
      more = appendNextStep(out);
    }
    partNanos = System.nanoTime() - begun;
    look();
    return more;
  }

  private void look() {
    calmLooks = requestsWait.getAsBoolean() ? 0 : calmLooks + 1;
  }

  /**
   * While requests wait it takes an eighth of the time. But once it has sent as many documents as
   * there were it has to be faster than the writers that it follows.
   */
  @Override
  public long pauseMillis() {
    return hasTime && calmLooks < CALM_LOOKS
        ? Math.min(MOST_MILLIS, PAUSES * Duration.ofNanos(partNanos).toMillis() + 1)
        : 0;
  }

  @Override
  public long keptBytes() {
    return SENT_BYTES * (sent.size() + pending.size())
        + place.map(ImagePage.Place::heldBytes).orElse(0L);
  }

  /** Appends what one transaction reads; returns whether there is more. */
  boolean appendNextStep(JsonBuffer out) {
    int before = out.length();
    if (image.isEmpty()) {
      begin(out);
    }
    renew();
    boolean more = step(out);
    untoldBytes += out.length() - before;
    return more;
  }

  private void begin(JsonBuffer out) {
    Header header = transactions.run(this::begin);
    if (place.isEmpty()) {
      place = Optional.of(ImagePage.Place.at(image.orElseThrow().since(), since));
    } else {
      ResumableCopy copy = what.copy().orElseThrow();
      copy.begin = Optional.empty();
      task.advance(copy.documents);
    }
    renewedNanos = System.nanoTime();
    writer.begin(header, out);
    clearMarks();
  }

  /** What all images of the database have seen is not looked at again. */
  private void clearMarks() {
    Optional<String> from = Optional.of("");
    while (from.isPresent()) {
      String behind = from.get();
      from =
          transactions.run(
              tx -> new GoneSubspace(asked.current(tx, catalogue)).clearMarks(tx, behind));
    }
  }

  private Header begin(Transaction tx) {
    DatabaseHandle db = asked.current(tx, catalogue);
    catalogue.guard(tx, db);
    GoneSubspace gone = new GoneSubspace(db);
    Image following =
        new Image(
            follower,
            what.follower().isPresent(),
            Awaiting.await(tx.getReadVersion()),
            followedFrom(tx, db, gone.images(tx)));
    if (!gone.follow(tx, following)) {
      throw LectusException.badRequest("Too many images of the database follow it; drop some.");
    }
    image = Optional.of(following);
    if (since.isEmpty()) {
      documents = Awaiting.await(DatabaseCounters.entries(tx, db));
      task.outOf(documents);
    }
    return new Header(
        db.name().text(),
        db.instance(),
        db.incarnation(),
        db.createdAtSeconds(),
        clock.instant().getEpochSecond(),
        since);
  }

  private Sequence followedFrom(ReadTransaction tx, DatabaseHandle db, List<Image> images) {
    if (place.isPresent()) {
      return images.stream()
          .filter(it -> it.name().equals(follower) && place.get().isFollowedBy(it))
          .findFirst()
          .orElseThrow(() -> what.copy().orElseThrow().impossible())
          .since();
    }
    since.ifPresent(it -> requireFollowed(images, it));
    return since.orElseGet(() -> ImagePage.lastOf(tx, db));
  }

  private void requireFollowed(List<Image> images, Sequence from) {
    boolean isFollowed =
        images.stream()
            .filter(it -> what.follower().isEmpty() || it.name().equals(follower))
            .anyMatch(it -> it.since().compareTo(from) <= 0);
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
            requireKept(tx, db);
            Image before = image.orElseThrow();
            long now = Awaiting.await(tx.getReadVersion());
            Image used = new Image(follower, before.standing(), now, before.since());
            new GoneSubspace(db).follow(tx, used);
            return null;
          });
      renewedNanos = System.nanoTime();
    }
  }

  /** What has no entry is kept as of the last stream of a name that began. */
  private void requireKept(ReadTransaction tx, DatabaseHandle db) {
    Sequence from = image.orElseThrow().since();
    if (new GoneSubspace(db)
        .images(tx).stream()
            .noneMatch(it -> it.name().equals(follower) && it.since().equals(from))) {
      throw new LectusException(
          new LectusError.PreconditionFailed(
              "no_follower",
              "Purges and local documents were not kept for this image: another image of this"
                  + " follower has begun, or this one took too long. Begin it again."));
    }
  }

  private boolean step(JsonBuffer out) {
    if (copying.isPresent()) {
      copy(copying.get(), out);
    } else if (!pending.isEmpty() && !place.orElseThrow().isWithinDocument()) {
      beginContent(out);
    } else if (last.isPresent()) {
      mark(ImagePage.Place.before(last.get(), place.orElseThrow()), out);
      writer.end(last.get(), out);
      close();
      return false;
    } else {
      if (what.copy().filter(it -> untoldBytes >= it.bytesBetween).isPresent()
          && !place.orElseThrow().isWithinDocument()) {
        mark(place.orElseThrow(), out);
      }
      page(out);
    }
    return true;
  }

  /** Tells from where another stream can go on. */
  private void mark(ImagePage.Place reached, JsonBuffer out) {
    what.copy()
        .flatMap(it -> it.mark(reached, task.done()))
        .ifPresent(it -> writer.append(new Reached(it), out));
    untoldBytes = 0;
  }

  /** Returns the sequence at which everything was read; empty before. */
  public Optional<Sequence> last() {
    return last;
  }

  private void page(JsonBuffer out) {
    ImagePage page = reads.read(this::read);
    place = Optional.of(page.place());
    boolean hasSame = what.copy().map(it -> it.hasSettings(page.place())).orElse(true);
    if (goesOn && !hasSame) {
      throw what.copy().orElseThrow().impossible();
    }
    goesOn = false;
    page.frames().forEach(frame -> writer.append(frame, out));
    hasTime = task.done() < documents;
    task.advance(page.frames().stream().filter(Document.class::isInstance).count());
    page.contents().stream()
        .filter(it -> !sent.containsKey(it) && !what.held().test(it))
        .forEach(pending::add);
    last = page.last();
  }

  private ImagePage read(ReadTransaction tx, DatabaseHandle db) {
    ImagePage page = new ImagePage(tx, db, place.orElseThrow()).read();
    if (page.last().isPresent()) {
      requireKept(tx, db);
    }
    return page;
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
}
