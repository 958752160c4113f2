package lectus.image;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;
import lectus.attachment.AttachmentList;
import lectus.attachment.ContentId;
import lectus.attachment.Digests;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.changes.log.GoneSubspace;
import lectus.changes.log.GoneSubspace.Gone;
import lectus.changes.log.GoneSubspace.Image;
import lectus.changes.log.GoneSubspace.Written;
import lectus.changes.log.PurgesSubspace;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.derived.DerivedRow;
import lectus.derived.StoredFeed;
import lectus.derived.rows.FeedRows;
import lectus.document.DocumentsSubspace;
import lectus.document.ReadAhead;
import lectus.document.RevisionMetadata;
import lectus.document.read.LocalDocsSubspace;
import lectus.document.read.LocalDocsSubspace.LocalRow;
import lectus.image.ImageFrame.Abandoned;
import lectus.image.ImageFrame.Departures;
import lectus.image.ImageFrame.Document;
import lectus.image.ImageFrame.DocumentLeaf;
import lectus.image.ImageFrame.Local;
import lectus.image.ImageFrame.Purges;
import lectus.image.ImageFrame.Settings;
import lectus.json.MalformedTupleException;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.revision.RevisionsSubspace.Won;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;

/**
 * What one transaction reads of an image: what is gone first, so that a document that was written
 * again comes behind that, and then as much as a page may have. The first page that has room for
 * everything is the last one.
 */
final class ImagePage {
  private static final int MOST_BYTES = 512 << 10;
  private static final int ROWS = 200;
  private static final int MOST_GONE = 2_000;

  /** Documents whose reads are begun together, and bytes of them that are aimed at. */
  private static final int FIRST_WINDOW = 64;

  private static final int MOST_OF_WINDOW = 256;
  private static final int WINDOW_BYTES = 128 << 10;

  /**
   * Leaves of one document that are read with those of a window. Each may have a history of 100 kB.
   */
  private static final int FIRST_LEAVES = 3;

  /** Further leaves of one document that are read together. */
  private static final int LEAVES = 64;

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

    /** From where on changes are followed. */
    private final Sequence begun;

    private final ReadAhead ahead;

    /** Whether documents are still to come that there were in the beginning. */
    private boolean isFirst;

    /** The last one of these; empty before them. */
    private Optional<String> first;

    /** The last entry that was read of each changes shard. */
    private final Map<ShardId, Sequence> shards;

    private Optional<ShardId> shard;
    private Sequence gone;
    private Optional<Sequence> purged;

    /** The first key of local documents that was not read; empty when all were. */
    private Optional<byte[]> local;

    /** Up to when all marks of local documents were followed. */
    private Sequence marked;

    /** The same once those behind a certain one are followed, too. */
    private Sequence marking;

    /** The last local document whose mark was followed; empty at the beginning of a pass. */
    private String mark;

    /** As of the settings that were read last. */
    private Optional<DatabaseHandle> db;

    private List<KeyValue> settings;
    private Optional<Half> half;

    private Place(Sequence begun, Optional<Sequence> since) {
      this.since = since;
      this.begun = begun;
      this.ahead = new ReadAhead(FIRST_WINDOW, MOST_OF_WINDOW, WINDOW_BYTES);
      this.isFirst = since.isEmpty();
      this.first = Optional.empty();
      this.shards = new HashMap<>();
      this.shard = Optional.empty();
      this.gone = begun;
      this.purged = since;
      this.local = since.isPresent() ? Optional.empty() : Optional.of(new byte[0]);
      this.marked = begun;
      this.marking = begun;
      this.mark = "";
      this.db = Optional.empty();
      this.settings = List.of();
      this.half = Optional.empty();
    }

    private Place(Place other) {
      this.since = other.since;
      this.begun = other.begun;
      this.ahead = other.ahead;
      this.isFirst = other.isFirst;
      this.first = other.first;
      this.shards = new HashMap<>(other.shards);
      this.shard = other.shard;
      this.gone = other.gone;
      this.purged = other.purged;
      this.local = other.local;
      this.marked = other.marked;
      this.marking = other.marking;
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

    /** Returns where the increment begins that follows an image. */
    static Place before(Sequence end, Place last) {
      Place next = new Place(end, Optional.of(end));
      next.settings = last.settings;
      return next;
    }

    /**
     * Reads what {@link #writeTo} has written.
     *
     * @throws MalformedTupleException it is none
     */
    static Place of(TupleReader it) {
      Place place = new Place(Sequence.readFrom(it), sequence(it));
      place.gone = Sequence.readFrom(it);
      place.marked = Sequence.readFrom(it);
      place.marking = place.marked;
      place.purged = sequence(it);
      place.local = it.isNil() ? Optional.empty() : Optional.of(it.bytes());
      if (place.local.isEmpty()) {
        it.nil();
      }
      place.isFirst = it.bool();
      place.first = Optional.of(it.string()).filter(id -> !id.isEmpty());
      while (it.hasNext()) {
        place.shards.put(new ShardId(it.string()), Sequence.readFrom(it));
      }
      return place;
    }

    private static Optional<Sequence> sequence(TupleReader it) {
      if (it.isNil()) {
        it.nil();
        return Optional.empty();
      }
      return Optional.of(Sequence.readFrom(it));
    }

    /** Writes it, if no document is half read. A pass over marks begins anew. */
    void writeTo(TupleWriter to) {
      begun.writeTo(to);
      since.ifPresentOrElse(it -> it.writeTo(to), to::nil);
      gone.writeTo(to);
      marked.writeTo(to);
      purged.ifPresentOrElse(it -> it.writeTo(to), to::nil);
      local.ifPresentOrElse(to::bytes, to::nil);
      to.bool(isFirst).string(first.orElse(""));
      shards.forEach((shard, read) -> read.writeTo(to.string(shard.text())));
    }

    /** Returns where an increment begins; empty of a whole image. */
    Optional<Sequence> since() {
      return since;
    }

    /** Whether the rows are still kept that leave no entry. */
    boolean isFollowedBy(Image image) {
      return image.since().compareTo(gone) <= 0 && image.since().compareTo(marked) <= 0;
    }

    /** Returns a digest of the settings that were read last. */
    byte[] settings() {
      MessageDigest digest = Digests.sha256();
      for (KeyValue row : settings) {
        TupleWriter both = new TupleWriter(256).bytes(row.getKey()).bytes(row.getValue());
        digest.update(both.toBytes());
      }
      return digest.digest();
    }

    /** Whether leaves of a document are still to come. */
    boolean isWithinDocument() {
      return half.isPresent();
    }

    /** Returns how many bytes it has of the pages to come. */
    long heldBytes() {
      return half.map(it -> size(it.departures)).orElse(0L);
    }
  }

  /**
   * A document of which not all leaves are in a page yet.
   *
   * @param due how many are not
   * @param behind the last one that is
   */
  private record Half(
      String id,
      Sequence sequence,
      int due,
      Optional<EditBranch> behind,
      List<KeyValue> departures) {

    private Half after(EditBranch next) {
      return new Half(id, sequence, due - 1, Optional.of(next), departures);
    }
  }

  private static long size(List<KeyValue> rows) {
    return rows.stream().mapToLong(it -> it.getKey().length + (long) it.getValue().length).sum();
  }

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
    boolean isAll =
        gone() && purges() && locals() && firstDocuments() && changedDocuments() && marks();
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
    ImageFrame.Body body = ImageFrame.Body.read(tx, key, Awaiting.await(tx.get(key)));
    long number = Long.parseLong(found.revision().hash().text(0));
    add(new Local(found.id(), OptionalLong.of(number), body), body.bytes().length);
  }

  /**
   * Local documents that were written meanwhile. A pass goes over all marks, in as many pages as it
   * takes, and the next one finds what was marked since that one began; the last one is within one
   * page.
   */
  private boolean marks() {
    while (!isFull()) {
      boolean isWhole = place.mark.isEmpty();
      if (isWhole) {
        long now = Awaiting.await(tx.getReadVersion());
        place.marking = new Sequence(db.incarnation(), Versionstamp.upTo(now).bytes());
      }
      if (!followMarks()) {
        return false;
      }
      place.marked = place.marking;
      place.mark = "";
      if (isWhole) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether it came to the end of a pass. */
  private boolean followMarks() {
    GoneSubspace gone = new GoneSubspace(db);
    LocalDocsSubspace subspace = new LocalDocsSubspace(db);
    List<Written> some;
    do {
      some = gone.writtenLocals(tx, place.mark, ROWS);
      for (Written mark : some) {
        if (isFull()) {
          return false;
        }
        if (mark.sequence().compareTo(place.marked) > 0) {
          local(subspace, Awaiting.await(subspace.row(tx, mark.docId())), mark.docId());
        }
        place.mark = mark.docId();
      }
    } while (some.size() == ROWS);
    return true;
  }

  /** Those that there were in the beginning, in the order in which they lie in the store. */
  private boolean firstDocuments() {
    while (place.isFirst) {
      if (isFull()) {
        return false;
      }
      List<Won> some = revisions.winners(tx, place.first, place.ahead.size());
      place.isFirst = !some.isEmpty();
      if (place.isFirst && !take(begin(some), it -> place.first = Optional.of(it.id))) {
        return false;
      }
    }
    return true;
  }

  /** Those that were written meanwhile, or since the image before. */
  private boolean changedDocuments() {
    List<ShardId> shards = shards(db, Optional.of(place.begun)).toList();
    int first = place.shard.map(shards::indexOf).filter(it -> it >= 0).orElse(0);
    for (int i = 0; i < shards.size(); i++) {
      ShardId shard = shards.get((first + i) % shards.size());
      if (!changedDocuments(shard)) {
        place.shard = Optional.of(shard);
        return false;
      }
    }
    return true;
  }

  /** Returns whether it came to the shard's end. */
  private boolean changedDocuments(ShardId shard) {
    ChangesSubspace changes = new ChangesSubspace(db);
    while (!isFull()) {
      Sequence after = place.shards.getOrDefault(shard, place.begun);
      int window = place.ahead.size();
      List<ChangeEntry> entries =
          Awaiting.await(changes.read(tx, shard, EntryRange.after(Optional.of(after), window)));
      if (!entries.isEmpty()
          && !take(
              entries.stream().map(this::begin).toList(),
              it -> place.shards.put(shard, it.sequence))) {
        return false;
      }
      if (entries.size() < window) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns whether all of a window are in the page.
   *
   * @param reached is told of each that is begun
   */
  private boolean take(List<Reading> window, Consumer<Reading> reached) {
    long before = bytes;
    int taken = 0;
    boolean goesOn = true;
    while (goesOn && taken < window.size()) {
      Reading reading = window.get(taken++);
      reached.accept(reading);
      goesOn = document(reading) && (taken == window.size() || !isFull());
    }
    place.ahead.took(taken, bytes - before);
    return goesOn;
  }

  /** A document whose first branches and whose winner's body are being read. */
  private record Reading(
      String id,
      Sequence sequence,
      int branchCount,
      CompletableFuture<List<EditBranch>> branches,
      CompletableFuture<byte[]> first) {}

  private Reading begin(ChangeEntry entry) {
    String id = entry.docId();
    CompletableFuture<List<EditBranch>> branches =
        entry.branchCount() == 1
            ? revisions
                .branch(tx, id, entry.deleted(), entry.winner())
                .thenApply(it -> it.stream().toList())
            : revisions.branches(tx, id, Optional.empty(), FIRST_LEAVES);
    return new Reading(
        id,
        entry.sequence(),
        entry.branchCount(),
        branches,
        tx.get(documents.revision(id, entry.deleted(), entry.winner())));
  }

  /** The rows of small bodies are neighbours, too: most of them come with one range read. */
  private List<Reading> begin(List<Won> window) {
    List<byte[]> keys =
        window.stream()
            .map(it -> documents.revision(it.docId(), it.winner().deleted(), it.winner().leaf()))
            .toList();
    byte[] last = keys.get(keys.size() - 1);
    byte[] end = Arrays.copyOf(last, last.length + 1);
    Iterator<KeyValue> rows =
        Awaiting.await(tx.getRange(keys.get(0), end, window.size()).asList()).iterator();
    Optional<KeyValue> row = Optional.empty();
    List<Reading> begun = new ArrayList<>(window.size());
    for (int i = 0; i < keys.size(); i++) {
      byte[] key = keys.get(i);
      while (rows.hasNext() && row.filter(it -> !isBefore(it, key)).isEmpty()) {
        row = Optional.of(rows.next());
      }
      CompletableFuture<byte[]> first =
          row.filter(it -> Arrays.equals(it.getKey(), key))
              .map(it -> CompletableFuture.completedFuture(it.getValue()))
              .orElseGet(() -> tx.get(key));
      begun.add(begin(window.get(i), first));
    }
    return begun;
  }

  private static boolean isBefore(KeyValue row, byte[] key) {
    return Arrays.compareUnsigned(row.getKey(), key) < 0;
  }

  private Reading begin(Won won, CompletableFuture<byte[]> first) {
    EditBranch winner = won.winner();
    int count = winner.winner().branchCount();
    return new Reading(
        won.docId(),
        winner.winner().sequence(),
        count,
        count == 1
            ? CompletableFuture.completedFuture(List.of(winner))
            : revisions.branches(tx, won.docId(), Optional.empty(), FIRST_LEAVES),
        first);
  }

  private boolean document(Reading reading) {
    String id = reading.id;
    List<KeyValue> departures = new ArrayList<>();
    for (FeedRows feed : feeds) {
      for (DerivedRow row : feed.departuresOf(id)) {
        departures.add(relative(new KeyValue(row.key(), row.value().orElseThrow())));
      }
    }
    int count = reading.branchCount;
    add(new Document(id, reading.sequence, count, !departures.isEmpty()), id.length());
    return leaves(
        new Half(id, reading.sequence, count, Optional.empty(), departures),
        Awaiting.await(reading.branches),
        reading.first);
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
      return leaves(half, List.of(), null);
    }
    add(new Abandoned(), 0);
    return true;
  }

  /**
   * Returns whether all leaves are in the page.
   *
   * @param known the next ones
   * @param first the body of the first one of these; null if it is not being read
   */
  private boolean leaves(Half half, List<EditBranch> known, CompletableFuture<byte[]> first) {
    Half now = half;
    CompletableFuture<byte[]> body = first;
    Iterator<EditBranch> next = known.iterator();
    while (now.due > 0) {
      if (isFull()) {
        place.half = Optional.of(now);
        return false;
      }
      if (!next.hasNext()) {
        next = Awaiting.await(revisions.branches(tx, now.id, now.behind, LEAVES)).iterator();
      }
      if (!next.hasNext()) {
        throw new IllegalStateException(
            "The document " + now.id + " of " + db.name() + " lacks an edit branch");
      }
      EditBranch branch = next.next();
      leaf(now.id, branch, body == null ? body(now.id, branch) : body);
      body = null;
      now = now.after(branch);
    }
    if (!now.departures.isEmpty()) {
      add(new Departures(now.departures), size(now.departures));
    }
    return true;
  }

  private CompletableFuture<byte[]> body(String id, EditBranch branch) {
    return tx.get(documents.revision(id, branch.deleted(), branch.leaf()));
  }

  private void leaf(String id, EditBranch branch, CompletableFuture<byte[]> first) {
    byte[] value = Awaiting.await(first);
    byte[] key = documents.revision(id, branch.deleted(), branch.leaf());
    AttachmentList attachments =
        value == null ? AttachmentList.NONE : RevisionMetadata.of(value).attachments();
    contents.addAll(attachments.contents());
    ImageFrame.Body body = ImageFrame.Body.read(tx, key, value);
    add(
        new DocumentLeaf(
            branch.leaf(), branch.deleted(), branch.ancestors().toList(), attachments, body),
        body.bytes().length + (long) REVISION_BYTES * branch.length());
  }
}
