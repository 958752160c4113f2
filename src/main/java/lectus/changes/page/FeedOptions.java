package lectus.changes.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.filter.FeedFilter;
import lectus.changes.filter.FeedFilter.FeedView;
import lectus.changes.filter.FunctionFilter;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.derived.SelectorIndex;
import lectus.derived.StoredFeed;
import lectus.document.AttachmentsShown;
import lectus.error.LectusException;
import lectus.json.FieldPath;

/**
 * What the rows of a feed show.
 *
 * @param allLeaves {@code style=all_docs}: every leaf of a document, not only its winner
 * @param conflicts adds {@code _conflicts} to it
 * @param sequenceInterval one row in this many has its sequence, the others null; 1 for all
 * @param fields of the body to read and show, {@code _id} and {@code _rev} only if they are named;
 *     empty for all
 * @param smallDocuments adds a document that has one leaf, which is live, small and without
 *     attachments, with its history; only in the normal feed, and only up to {@link
 *     NormalFeed#SMALL_DOCUMENTS_BYTES}
 */
public record FeedOptions(
    boolean allLeaves,
    boolean includeDocs,
    boolean conflicts,
    AttachmentsShown attachments,
    FeedFilter filter,
    long sequenceInterval,
    List<FieldPath> fields,
    boolean smallDocuments) {
  public static final FeedOptions DEFAULT =
      new FeedOptions(false, false, false, new FeedFilter.None(), 1);

  public FeedOptions {
    if (sequenceInterval < 1) {
      throw new IllegalArgumentException("seq_interval must be positive: " + sequenceInterval);
    }
    fields = List.copyOf(fields);
  }

  /** Shows attachments as stubs. */
  public FeedOptions(
      boolean allLeaves,
      boolean includeDocs,
      boolean conflicts,
      FeedFilter filter,
      long sequenceInterval,
      List<FieldPath> fields) {
    this(
        allLeaves,
        includeDocs,
        conflicts,
        AttachmentsShown.STUBS,
        filter,
        sequenceInterval,
        fields,
        false);
  }

  /** Shows whole bodies, and attachments as stubs. */
  public FeedOptions(
      boolean allLeaves,
      boolean includeDocs,
      boolean conflicts,
      FeedFilter filter,
      long sequenceInterval) {
    this(allLeaves, includeDocs, conflicts, filter, sequenceInterval, List.of());
  }

  /** Whether the rows have bytes of attachments, which are read later. */
  public boolean hasBytes() {
    return includeDocs && fields.isEmpty() && attachments.showsBytes();
  }

  /** Returns the look of a row regardless of the filter: equal for equal rows. */
  FeedOptions shape() {
    return new FeedOptions(
        allLeaves,
        includeDocs,
        includeDocs && conflicts,
        includeDocs ? attachments : AttachmentsShown.STUBS,
        new FeedFilter.None(),
        sequenceInterval,
        includeDocs ? fields : List.of(),
        false);
  }

  /**
   * Returns the options in a database for a reader that begins there.
   *
   * @throws LectusException {@code bad_request}: the database has not reached the position; {@code
   *     feed_deleted} (412): it comes from before a stored feed of the name was removed
   */
  FeedOptions beginning(ReadTransaction tx, DatabaseHandle db, FeedPosition from) {
    FeedPosition here = from.inLife(db);
    here.checkReached(tx, db);
    if (filter instanceof FeedFilter.OfFeed some && here.isVoid(some, tx, db)) {
      throw FeedFilter.gone(some.name());
    }
    return in(db);
  }

  /** Returns as of where a reader of these rows knows which stored feeds are removed. */
  Sequence known() {
    return filter instanceof FeedFilter.OfFeed some ? some.known() : Sequence.ZERO;
  }

  /** Returns the options with the filter as it is in a database. */
  FeedOptions in(DatabaseHandle db) {
    return with(filter.in(db));
  }

  private FeedOptions with(FeedFilter other) {
    return with(other, fields);
  }

  public FeedOptions with(FeedFilter otherFilter, List<FieldPath> otherFields) {
    return new FeedOptions(
        allLeaves,
        includeDocs,
        conflicts,
        attachments,
        otherFilter,
        sequenceInterval,
        otherFields,
        smallDocuments);
  }

  FeedOptions withoutSmallDocuments() {
    return smallDocuments
        ? new FeedOptions(
            allLeaves, includeDocs, conflicts, attachments, filter, sequenceInterval, fields, false)
        : this;
  }

  /** Whether rows have documents, or some of them. */
  boolean hasBodies() {
    return includeDocs || smallDocuments;
  }

  /**
   * Returns the options with a function as the filter. Which rows it wants is known too late for
   * some of them to have no sequence.
   */
  public FeedOptions filteredBy(FunctionFilter function) {
    return new FeedOptions(
        allLeaves, includeDocs, conflicts, attachments, function, 1, fields, false);
  }

  /** Returns what is seen of a stored feed, if the options name one that can be read. */
  Optional<FeedView> storedFeed() {
    return filter instanceof FeedFilter.OfFeed some
            && some.feed().filter(StoredFeed::isReadable).isPresent()
        ? Optional.of(new FeedView(some, allLeaves))
        : Optional.empty();
  }

  /** Returns the options in one of many databases, where nothing passes if it has no such feed. */
  public CompletableFuture<FeedOptions> amongMany(ReadTransaction tx, DatabaseHandle db) {
    return filter instanceof FeedFilter.OfFeed some
        ? some.amongMany(tx, db).thenApply(this::with)
        : CompletableFuture.completedFuture(this);
  }

  /** Returns the stored feed of whose departures a reader is told; empty if there is none. */
  public List<StoredFeed> departing() {
    return filter instanceof FeedFilter.OfFeed some
            && some.feed().isPresent()
            && new FeedView(some, allLeaves).tellsOfDepartures()
        ? some.feed().stream().toList()
        : List.of();
  }

  /** Whether each document has to be read to decide if it passes. */
  boolean scans() {
    if (filter instanceof FeedFilter.OfFeed some) {
      return some.feed().filter(StoredFeed::isCostly).isPresent();
    }
    return filter instanceof FeedFilter.Selected some && !SelectorIndex.finds(some.selector());
  }
}
