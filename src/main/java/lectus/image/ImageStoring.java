package lectus.image;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lectus.attachment.AttachmentKeys;
import lectus.attachment.ChunksSubspace;
import lectus.attachment.ContentId;
import lectus.attachment.ContentUpload;
import lectus.attachment.ContentsSubspace;
import lectus.attachment.ContentsSubspace.StoredContent;
import lectus.attachment.ReferencesSubspace;
import lectus.attachment.ReferencesSubspace.Reference;
import lectus.attachment.UnusedSubspace;
import lectus.attachment.UploadsSubspace.UploadId;
import lectus.changes.log.PurgesSubspace;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.RelocationsSubspace.Attempt;
import lectus.database.Sequence;
import lectus.derived.rows.FeedRows;
import lectus.document.DocumentId;
import lectus.error.FoundationDbError;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.image.ImageFrame.Abandoned;
import lectus.image.ImageFrame.Chunk;
import lectus.image.ImageFrame.Content;
import lectus.image.ImageFrame.Departures;
import lectus.image.ImageFrame.Document;
import lectus.image.ImageFrame.DocumentLeaf;
import lectus.image.ImageFrame.End;
import lectus.image.ImageFrame.Gone;
import lectus.image.ImageFrame.Header;
import lectus.image.ImageFrame.Local;
import lectus.image.ImageFrame.Purges;
import lectus.image.ImageFrame.Reached;
import lectus.image.ImageFrame.Settings;
import lectus.json.MalformedTupleException;
import lectus.metrics.Tasks.RunningTask;
import lectus.store.Awaiting;
import lectus.store.RowPage;
import lectus.store.Store;

/**
 * Stores an image, and increments that follow it, as a database of another name or store, while the
 * bytes arrive: documents as {@link DocumentStoring} does, all else here. The database appears when
 * everything was stored and was found whole. Its methods wait for the store. Not thread-safe.
 */
public final class ImageStoring {
  /** After so long a restore is given up, whatever comes. */
  private static final Duration MOST_TIME = Duration.ofDays(30);

  /** Contents that are remembered to be looked for; if there are more, all are. */
  private static final int MOST_SHOWN = 10_000;

  private static final int BYTES_OF_ID = 100;

  private static final Set<FoundationDbError> TOO_LARGE =
      EnumSet.of(
          FoundationDbError.TRANSACTION_TOO_LARGE,
          FoundationDbError.KEY_TOO_LARGE,
          FoundationDbError.VALUE_TOO_LARGE);

  private final Store store;
  private final Catalogue catalogue;
  private final DatabaseName name;
  private final Optional<Attempt> attempt;
  private final Optional<Former> former;
  private final InstantSource clock;
  private final Instant deadline;
  private final RunningTask task;
  private final ImageParser parser = new ImageParser(this::take);
  private Optional<Header> header = Optional.empty();
  private Optional<HiddenDatabase> database = Optional.empty();
  private Optional<ContentStoring> content = Optional.empty();
  private Optional<DocumentStoring> documents = Optional.empty();

  /** Contents that leaves show which have come since the last end. */
  private final Set<ContentId> shown = new HashSet<>();

  /** Whether {@link #shown} lacks some. */
  private boolean hasMoreShown;

  /**
   * An attempt that broke off, with which another one goes on.
   *
   * @param images how many whole ones it had when it was looked at; if it has more now, another one
   *     must not go on from what was seen then. Empty: the other place is an older server
   */
  public record Former(Attempt attempt, OptionalLong images) {}

  /**
   * @param attempt as which it comes from another place, to be kept from everybody until it is
   *     decided which place has it; empty if it comes from none
   * @param former an attempt that broke off, with which this one goes on; empty: it is the first
   */
  public ImageStoring(
      Store store,
      Catalogue catalogue,
      DatabaseName name,
      Optional<Attempt> attempt,
      Optional<Former> former,
      InstantSource clock) {
    this.store = store;
    this.catalogue = catalogue;
    this.name = name;
    this.attempt = attempt;
    this.former = former;
    this.clock = clock;
    this.deadline = clock.instant().plus(MOST_TIME);
    this.task = store.tasks().begin(attempt.isPresent() ? "relocation" : "restore", name.text());
  }

  /** Returns how many bytes it has in memory. */
  public long heldBytes() {
    return parser.heldBytes()
        + database.map(HiddenDatabase::heldBytes).orElse(0L)
        + documents.map(DocumentStoring::heldBytes).orElse(0L)
        + content.map(ContentStoring::heldBytes).orElse(0L)
        + (long) BYTES_OF_ID * shown.size();
  }

  /**
   * Takes the next bytes.
   *
   * @throws LectusException {@code bad_image} (400), {@code file_exists} (412), Unavailable; {@code
   *     request_timeout} (408) if the restore takes too long
   */
  public void take(byte[] bytes) {
    if (clock.instant().isAfter(deadline)) {
      throw new LectusException(
          new LectusError.RequestTimeout(
              "The restore has taken " + MOST_TIME.toDays() + " days. It was given up."));
    }
    parser.take(bytes, 0, bytes.length);
  }

  /** Stores what has come. */
  public void relieve() {
    try {
      documents.ifPresent(DocumentStoring::relieve);
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  private void take(ImageFrame frame) {
    try {
      store(frame);
    } catch (MalformedTupleException | IllegalArgumentException unreadable) {
      throw ImageParser.bad("A document in the image cannot be read.");
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  /** Rows that are too large for a store are the image's fault. */
  private static RuntimeException told(RuntimeException failure) {
    boolean isTooLarge =
        failure instanceof FDBException refused
            && FoundationDbError.of(refused.getCode()).filter(TOO_LARGE::contains).isPresent();
    return isTooLarge
        ? ImageParser.bad("The image has rows that are larger than a store can have.")
        : failure;
  }

  private void store(ImageFrame frame) {
    if (frame instanceof Header first) {
      begin(first);
      return;
    }
    HiddenDatabase to = database.orElseThrow();
    DocumentStoring storing = documents.orElseThrow();
    if (frame instanceof Settings settings) {
      relieve();
      to.set(settings.rows());
      storing.leaveStoredInPart();
    } else if (frame instanceof Document document) {
      if (!to.db().incarnations().has(document.sequence())) {
        throw new MalformedTupleException("A sequence of another database");
      }
      DocumentId.checkIn(to.db(), DocumentId.check(document.id(), DocumentId.DEFAULT_MAX_BYTES));
      storing.begin(document);
    } else if (frame instanceof DocumentLeaf leaf) {
      shown.addAll(leaf.attachments().contents());
      if (shown.size() > MOST_SHOWN) {
        hasMoreShown = true;
        shown.clear();
      }
      storing.add(leaf);
    } else if (frame instanceof Departures departures) {
      absolute(to, departures).forEach(row -> FeedRows.checkDeparture(to.db(), row));
      storing.arrive(departures.rows());
    } else if (frame instanceof Abandoned) {
      storing.abandonPart();
      content.ifPresent(ContentStoring::abandon);
      content = Optional.empty();
    } else if (frame instanceof Gone gone) {
      storing.leave(gone);
    } else if (frame instanceof Local local) {
      // A database that moves is behind nobody, so its checkpoints stand as they are.
      storing.put(local, attempt.isPresent() ? local.body().exploded() : local.body().local());
    } else if (frame instanceof Content begun) {
      content = ContentStoring.begin(to, begun);
    } else if (frame instanceof Chunk chunk) {
      content.ifPresent(it -> it.take(chunk.bytes()));
    } else if (frame instanceof Purges purges) {
      relieve();
      PurgesSubspace history = new PurgesSubspace(to.db());
      List<KeyValue> rows = absolute(to, purges);
      rows.forEach(history::check);
      to.write(tx -> rows.forEach(row -> tx.set(row.getKey(), row.getValue())));
    } else if (frame instanceof Reached reached && attempt.isPresent()) {
      relieve();
      to.reached(reached.place());
    } else if (frame instanceof End end) {
      relieve();
      checkContents();
      if (attempt.isPresent()) {
        to.reached(end.sequence());
      }
    }
  }

  private static List<KeyValue> absolute(HiddenDatabase to, ImageFrame.Rows frame) {
    return frame.rows().stream().map(row -> new KeyValue(to.key(row), row.getValue())).toList();
  }

  private void begin(Header next) {
    if (header.isEmpty()) {
      if (next.since().isPresent() && former.isEmpty()) {
        throw ImageParser.bad("The first image is an increment; a whole image comes first.");
      }
      if (!rules(next.database()).equals(rules(name.text()))) {
        throw LectusException.badRequest(
            "An image of " + next.database() + " cannot be stored as " + name.text() + ".");
      }
      HiddenDatabase begun =
          former
              .map(it -> HiddenDatabase.goOn(store, catalogue, name, it, attempt.orElseThrow()))
              .orElseGet(() -> HiddenDatabase.begin(store, catalogue, name, attempt));
      hasMoreShown = former.isPresent();
      database = Optional.of(begun);
      documents = Optional.of(new DocumentStoring(begun, task));
    }
    header = Optional.of(next);
  }

  /**
   * Returns the end of a name if databases with that end have rules of their own, as {@code _users}
   * and {@code a/_users}: who may read them, and what their documents do.
   */
  private static String rules(String database) {
    String end = database.substring(database.lastIndexOf('/') + 1);
    return end.startsWith("_") ? end : "";
  }

  /**
   * Ends the image: it has come as a whole. One from another place waits until it is decided which
   * place has the database.
   *
   * @throws LectusException {@code bad_image} (400), {@code file_exists} (412)
   */
  public void end() {
    Sequence last = parser.finish().sequence();
    HiddenDatabase whole = database.orElseThrow();
    if (attempt.isPresent()) {
      try {
        whole.standReady(header.orElseThrow().createdAtSeconds(), last);
      } catch (RuntimeException failure) {
        throw told(failure);
      }
      task.close();
    } else {
      whole.requireFree();
    }
  }

  /** Fills in a part of what was defined later than the documents; returns whether it did. */
  public boolean fillNext() {
    return database.orElseThrow().fillNext();
  }

  /**
   * Makes everybody find the database, which is whole.
   *
   * @throws LectusException {@code file_exists} (412)
   */
  public Restored appear() {
    Sequence last = parser.finish().sequence();
    try {
      DatabaseHandle db =
          database.orElseThrow().appear(header.orElseThrow().createdAtSeconds(), last);
      task.close();
      return new Restored(db, last);
    } catch (RuntimeException failure) {
      throw told(failure);
    }
  }

  /**
   * A database that is there now.
   *
   * @param last the last sequence of the image
   */
  public record Restored(DatabaseHandle db, Sequence last) {}

  /** No leaf may show a content that has not come. */
  private void checkContents() {
    HiddenDatabase to = database.orElseThrow();
    ContentsSubspace contents = new ContentsSubspace(to.db().prefix());
    boolean haveCome =
        !hasMoreShown
            && to.read(
                tx ->
                    shown.stream().map(id -> contents.get(tx, id)).toList().stream()
                        .allMatch(it -> Awaiting.await(it).isPresent()));
    shown.clear();
    hasMoreShown = false;
    if (!haveCome) {
      // A document may have come again without it.
      checkAllContents();
    }
  }

  private void checkAllContents() {
    HiddenDatabase from = database.orElseThrow();
    byte[] prefix = from.db().prefix();
    ReferencesSubspace references = new ReferencesSubspace(prefix);
    ContentsSubspace contents = new ContentsSubspace(prefix);
    byte[] end = AttachmentKeys.REFERENCES.range(prefix).end;
    Optional<byte[]> next = Optional.of(AttachmentKeys.REFERENCES.range(prefix).begin);
    while (next.isPresent()) {
      byte[] begin = next.get();
      RowPage page = from.read(tx -> RowPage.read(tx, begin, end));
      List<Reference> shown =
          page.rows().stream().map(row -> references.decode(row.getKey(), row.getValue())).toList();
      from.read(tx -> lacking(tx, contents, shown))
          .ifPresent(
              it -> {
                throw ImageParser.bad(
                    "The image lacks an attachment of the document " + it.docId() + ".");
              });
      next = page.next();
    }
  }

  /** Returns the first reference to a content that is not there. */
  private static Optional<Reference> lacking(
      ReadTransaction tx, ContentsSubspace contents, List<Reference> shown) {
    Map<ContentId, CompletableFuture<Optional<StoredContent>>> reading = new HashMap<>();
    shown.forEach(it -> reading.computeIfAbsent(it.content(), id -> contents.get(tx, id)));
    return shown.stream()
        .filter(it -> Awaiting.await(reading.get(it.content())).isEmpty())
        .findFirst();
  }

  /** Removes what was stored, unless another attempt can go on with it. */
  public void abandon() {
    task.close();
    try {
      documents.ifPresent(DocumentStoring::await);
    } finally {
      database.ifPresent(HiddenDatabase::abandon);
    }
  }

  /**
   * Stores a content of attachments of a database that is being restored, some chunks at a time.
   */
  private static final class ContentStoring {
    private static final int CHUNKS_AT_ONCE = 8;

    private final HiddenDatabase database;
    private final Content content;
    private final UploadId upload = UploadId.random();
    private final ChunksSubspace chunks;
    private final List<byte[]> waiting = new ArrayList<>();
    private byte[] filling = new byte[0];
    private long stored;
    private long come;

    private ContentStoring(HiddenDatabase database, Content content) {
      this.database = database;
      this.content = content;
      this.chunks = new ChunksSubspace(database.db().prefix());
    }

    /** Returns empty if the content is there already. */
    static Optional<ContentStoring> begin(HiddenDatabase database, Content content) {
      ContentsSubspace contents = new ContentsSubspace(database.db().prefix());
      if (database.read(tx -> Awaiting.await(contents.get(tx, content.id()))).isPresent()) {
        return Optional.empty();
      }
      ContentStoring storing = new ContentStoring(database, content);
      if (content.length() == 0) {
        storing.finish();
        return Optional.empty();
      }
      return Optional.of(storing);
    }

    long heldBytes() {
      return filling.length + (long) waiting.size() * ContentUpload.CHUNK_BYTES;
    }

    /** Takes the next bytes; the last ones finish it. */
    void take(byte[] bytes) {
      come += bytes.length;
      int at = 0;
      while (at < bytes.length) {
        int count = Math.min(bytes.length - at, ContentUpload.CHUNK_BYTES - filling.length);
        byte[] more = Arrays.copyOf(filling, filling.length + count);
        System.arraycopy(bytes, at, more, filling.length, count);
        filling = more;
        at += count;
        if (filling.length == ContentUpload.CHUNK_BYTES) {
          complete();
        }
      }
      if (come == content.length()) {
        if (filling.length > 0) {
          waiting.add(filling);
        }
        finish();
      }
    }

    private void complete() {
      waiting.add(filling);
      filling = new byte[0];
      if (waiting.size() == CHUNKS_AT_ONCE) {
        store();
      }
    }

    private void store() {
      database.write(
          tx -> {
            putWaiting(tx);
            if (stored == 0) {
              database.storesInPart(tx, Optional.of(upload));
            }
          });
      stored += waiting.size();
      waiting.clear();
    }

    private void putWaiting(Transaction tx) {
      for (int i = 0; i < waiting.size(); i++) {
        chunks.put(tx, upload, stored + i, waiting.get(i));
      }
    }

    /** Nobody may refer to it any more, so the sweep looks. */
    private void finish() {
      StoredContent whole =
          new StoredContent(
              upload,
              content.length(),
              content.md5(),
              ContentUpload.CHUNK_BYTES,
              content.plainLength());
      byte[] prefix = database.db().prefix();
      database.write(
          tx -> {
            putWaiting(tx);
            if (stored > 0) {
              database.storesInPart(tx, Optional.empty());
            }
            new ContentsSubspace(prefix).put(tx, content.id(), whole);
            new UnusedSubspace(prefix).put(tx, content.id(), Awaiting.await(tx.getReadVersion()));
          });
    }

    /** The content does not come to its end. */
    void abandon() {
      if (come < content.length()) {
        database.write(
            tx -> {
              chunks.clear(tx, upload);
              database.storesInPart(tx, Optional.empty());
            });
      }
    }
  }
}
