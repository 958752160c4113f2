package lectus.changes.filter;

import com.apple.foundationdb.ReadTransaction;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lectus.changes.filter.PassingEntries.Passing;
import lectus.changes.log.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.FeedsSubspace;
import lectus.derived.DatabaseFeeds;
import lectus.derived.DocumentChannels;
import lectus.derived.StoredFeed;
import lectus.document.DocumentId;
import lectus.document.RequestJson;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.mango.selector.Selector;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;
import lectus.storedfeed.Standing;

/** Decides which rows of a feed are shown. */
public sealed interface FeedFilter {
  /** All rows. */
  record None() implements FeedFilter {}

  /** {@code filter=_doc_ids}. */
  final class DocumentIds implements FeedFilter {
    private final Set<String> ids;

    /** Cached, because feeds are looked up by their filters whenever one comes or goes. */
    private final int hash;

    public DocumentIds(Set<String> ids) {
      this.ids = Set.copyOf(ids);
      this.hash = this.ids.hashCode();
    }

    public Set<String> ids() {
      return ids;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof DocumentIds it && hash == it.hash && ids.equals(it.ids);
    }

    @Override
    public int hashCode() {
      return hash;
    }
  }

  /** {@code filter=_design}. */
  record DesignDocuments() implements FeedFilter {}

  /** {@code filter=_selector}: by the content of documents, including tombstones. */
  record Selected(Selector selector) implements FeedFilter {}

  /**
   * {@code filter=_feed/name}.
   *
   * @param channels empty of a feed with a selector
   * @param left whether documents that have left are shown, too
   * @param feed empty until it was looked up; in many databases each has its own
   */
  record OfFeed(String name, Set<String> channels, boolean left, Optional<StoredFeed> feed)
      implements FeedFilter {
    public OfFeed {
      channels = Set.copyOf(channels);
    }

    /** Returns the channels to read. */
    Set<String> read() {
      return feed.orElseThrow().definition().isOfChannels()
          ? channels
          : Set.of(DocumentChannels.ONLY);
    }

    /** Whether a feed has channels exactly if some were asked for. */
    boolean suits(StoredFeed some) {
      return some.definition().isOfChannels() != channels.isEmpty();
    }

    OfFeed of(StoredFeed some) {
      return new OfFeed(name, channels, left, Optional.of(some));
    }

    /**
     * Whether a feed of this name was removed behind a position: nobody tells a reader that comes
     * from there what of that feed it has to drop.
     *
     * @param known the version as of which the reader knows what was removed
     */
    public boolean isVoid(
        Versionstamp position, long known, ReadTransaction tx, DatabaseHandle db) {
      return Awaiting.await(findVoid(position, known, tx, db));
    }

    /** As {@link #isVoid}. */
    public CompletableFuture<Boolean> findVoid(
        Versionstamp position, long known, ReadTransaction tx, DatabaseHandle db) {
      return feed.or(() -> db.feeds().named(name))
          .map(it -> CompletableFuture.completedFuture(it.formerRemovedAt()))
          .orElseGet(() -> new FeedsSubspace(db.prefix()).removedAt(tx, name))
          .thenApply(it -> it.compareTo(position) > 0 && it.version() > known);
    }

    /** Returns the filter in one of many databases, where nothing passes if there is no feed. */
    public CompletableFuture<OfFeed> amongMany(ReadTransaction tx, DatabaseHandle db) {
      CompletableFuture<DatabaseFeeds> feeds =
          db.feeds().isEmpty()
              ? new FeedsSubspace(db.prefix()).all(tx).thenApply(DatabaseFeeds::new)
              : CompletableFuture.completedFuture(db.feeds());
      return feeds.thenApply(its -> its.named(name).filter(this::suits).map(this::of).orElse(this));
    }
  }

  /**
   * Returns the filter as it is in a database.
   *
   * @throws LectusException {@code not_found}: there is no such stored feed; {@code bad_request}:
   *     it has channels and none is asked for, or the other way round; {@code feed_deleted} (412)
   */
  default FeedFilter in(DatabaseHandle db) {
    if (!(this instanceof OfFeed some)) {
      return this;
    }
    if (some.feed().isPresent()) {
      return some.of(db.feeds().current(some.feed().get()).orElseThrow(() -> gone(some.name())));
    }
    StoredFeed feed =
        db.feeds()
            .named(some.name())
            .orElseThrow(() -> LectusException.notFound("There is no such stored feed."));
    if (!some.suits(feed)) {
      throw LectusException.badRequest(
          feed.definition().isOfChannels()
              ? "A `channel` of this stored feed must be given."
              : "This stored feed has no channels.");
    }
    return some.of(feed);
  }

  /** Whoever reads a feed is told when it is deleted, even if another one has its name. */
  static LectusException gone(String name) {
    return new LectusException(
        new LectusError.PreconditionFailed(
            "feed_deleted", "The stored feed " + name + " has been deleted."));
  }

  /** Whether a document with this id may be shown. */
  default boolean passes(String docId) {
    if (this instanceof DocumentIds some) {
      return some.ids().contains(docId);
    }
    return !(this instanceof DesignDocuments) || DocumentId.isDesign(docId);
  }

  /**
   * @param body {@code {"doc_ids":[…]}}
   * @throws LectusException {@code bad_request}
   */
  static FeedFilter documentIdsOfBody(byte[] body) {
    return documentIds(RequestJson.object(body).get("doc_ids").orElseThrow(FeedFilter::notIds));
  }

  /**
   * @param json an array of ids
   * @throws LectusException {@code bad_request}
   */
  static FeedFilter documentIds(JsonValue json) {
    if (!(json instanceof JsonValue.JsonArray array)) {
      throw notIds();
    }
    Set<String> ids = new HashSet<>();
    for (JsonValue element : array.elements()) {
      if (!(element instanceof JsonValue.JsonString id)) {
        throw notIds();
      }
      ids.add(id.value());
    }
    return new DocumentIds(ids);
  }

  private static LectusException notIds() {
    return LectusException.badRequest("`doc_ids` filter parameter is not a list of doc ids.");
  }

  /**
   * What a reader sees of a stored feed, by how documents stand to its channels.
   *
   * @param allLeaves whether every leaf of a document is shown
   */
  record FeedView(FeedFilter.OfFeed filter, boolean allLeaves) {

    /** Whether the reader is told of documents that leave, or only of those that are deleted. */
    public boolean tellsOfDepartures() {
      return filter.left() || feed().definition().isOfChannels();
    }

    public StoredFeed feed() {
      return filter.feed().orElseThrow();
    }

    public Set<String> channels() {
      return filter.read();
    }

    /**
     * Returns the row of an entry; empty if it is not shown.
     *
     * @param inChannels the leaves that are in one of the channels, if they are known
     */
    public Optional<Passing> row(
        ChangeEntry entry, Standing standing, Optional<List<RevisionId>> inChannels) {
      if (standing == Standing.MEMBER || (standing == Standing.BESIDE && allLeaves)) {
        boolean choosesLeaves = allLeaves && entry.branchCount() > 1;
        return Optional.of(
            new Passing(entry, choosesLeaves ? inChannels : Optional.empty(), false));
      }
      if (filter.left()) {
        return Optional.of(departure(entry));
      }
      // Whoever reads a channel is told that a document of it was deleted.
      boolean isDeletion = feed().definition().isOfChannels() && entry.deleted();
      return isDeletion
          ? Optional.of(new Passing(entry, Optional.of(List.of(entry.winner())), false))
          : Optional.empty();
    }

    private static Passing departure(ChangeEntry entry) {
      return new Passing(entry, Optional.of(List.of(entry.winner())), true);
    }
  }
}
