package lectus.changes.filter;

import com.apple.foundationdb.ReadTransaction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import lectus.changes.filter.PassingEntries.Passing;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.DerivedSubspace;
import lectus.database.Sequence;
import lectus.derived.DerivedSet;
import lectus.derived.FeedDefinition;
import lectus.derived.Selector;
import lectus.derived.StoredFeed;
import lectus.derived.rows.Belonging.Standing;
import lectus.document.DocumentId;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.FieldPath;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.revision.RevisionId;

/** Decides which rows of a feed are shown. */
public sealed interface FeedFilter
    permits FeedFilter.None,
        FeedFilter.DocumentIds,
        FeedFilter.DesignDocuments,
        FeedFilter.Selected,
        FeedFilter.OfFeed,
        FunctionFilter {
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
      return feed.orElseThrow().definition().channels().isPresent()
          ? channels
          : Set.of(StoredFeed.ONLY);
    }

    /** Whether a feed has channels exactly if some were asked for. */
    boolean suits(StoredFeed some) {
      return some.definition().channels().isPresent() != channels.isEmpty();
    }

    OfFeed of(StoredFeed some) {
      return new OfFeed(name, channels, left, Optional.of(some));
    }

    /**
     * Returns where a feed of this name was removed last. Nobody tells a reader that comes from
     * before what of that feed it has to drop.
     */
    public CompletableFuture<Sequence> removedAt(ReadTransaction tx, DatabaseHandle db) {
      return feed.or(() -> db.feeds().named(name))
          .map(it -> CompletableFuture.completedFuture(it.former()))
          .orElseGet(() -> new DerivedSubspace(db.prefix()).removed(tx, name))
          .thenApply(OfFeed::sequence);
    }

    /** Returns as of where a reader of the feed knows what was removed. */
    public Sequence known() {
      return feed.map(it -> sequence(it.former())).orElse(Sequence.ZERO);
    }

    private static Sequence sequence(StoredFeed.Removal removal) {
      return new Sequence(removal.incarnation(), removal.at().bytes());
    }

    /** Returns the filter in one of many databases, where nothing passes if there is no feed. */
    public CompletableFuture<OfFeed> amongMany(ReadTransaction tx, DatabaseHandle db) {
      CompletableFuture<DerivedSet<StoredFeed>> feeds =
          db.feeds().isEmpty()
              ? new DerivedSubspace(db.prefix())
                  .all(tx)
                  .thenApply(all -> DerivedSet.of(StoredFeed.class, all))
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
          feed.definition().channels().isPresent()
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

  /** Whether a document with this id may be shown, as far as its id tells. */
  default boolean passes(String docId) {
    if (this instanceof DocumentIds some) {
      return some.ids().contains(docId);
    }
    return !(this instanceof DesignDocuments) || DocumentId.isDesign(docId);
  }

  /**
   * @param json an array of ids
   * @throws LectusException {@code bad_request}
   */
  static FeedFilter documentIds(JsonValue json) {
    return new DocumentIds(texts(json, "`doc_ids` filter parameter is not a list of doc ids."));
  }

  /**
   * @param channel names of channels; none of a feed with a selector
   * @param channels arrays of more of them
   * @throws LectusException {@code bad_request}: they are too many, or one is no channel's name
   */
  static FeedFilter ofFeed(
      String feed, List<String> channel, List<JsonValue> channels, boolean left) {
    Set<String> different = new HashSet<>(channel);
    channels.forEach(it -> different.addAll(texts(it, "`channels` must be an array of strings.")));
    if (different.size() > FeedDefinition.MAX_ASKED) {
      throw LectusException.badRequest(
          "At most " + FeedDefinition.MAX_ASKED + " channels can be read at once.");
    }
    for (String name : different) {
      int bytes = name.getBytes(StandardCharsets.UTF_8).length;
      if (bytes == 0 || bytes > FeedDefinition.LONGEST_CHANNEL) {
        throw LectusException.badRequest(
            "The name of a channel has 1 to " + FeedDefinition.LONGEST_CHANNEL + " bytes.");
      }
    }
    return new OfFeed(feed, different, left, Optional.empty());
  }

  /**
   * @throws LectusException {@code bad_request}, with the sentence of {@code _find} if the selector
   *     is wrong
   */
  static Selected selected(JsonValue selector) {
    if (selector instanceof JsonValue.JsonObject object) {
      return new Selected(asBadRequest(() -> Selector.compile(object)));
    }
    throw LectusException.badRequest("Selector error: expected a JSON object");
  }

  /**
   * Parses the fields that {@code filter=_selector} shows of documents.
   *
   * @param json an array of names in {@link FieldPath}'s syntax; an empty one stands for all
   * @throws LectusException {@code bad_request}
   */
  static List<FieldPath> fields(JsonValue json) {
    if (!(json instanceof JsonValue.JsonArray array)) {
      throw LectusException.badRequest("Selector error: fields must be JSON array");
    }
    List<String> names = new ArrayList<>(array.elements().size());
    for (JsonValue field : array.elements()) {
      if (!(field instanceof JsonValue.JsonString name)) {
        JsonBuffer text = new JsonBuffer(64);
        field.writeTo(text);
        throw LectusException.badRequest("Invalid JSON for field spec: " + text);
      }
      names.add(name.value());
    }
    return asBadRequest(() -> FieldPath.parseAll(names));
  }

  /** {@code _changes} has one error name for every fault of a selector. */
  private static <T> T asBadRequest(Supplier<T> parsed) {
    try {
      return parsed.get();
    } catch (LectusException e) {
      throw e.error() instanceof LectusError.BadRequest bad
          ? LectusException.badRequest(bad.reason())
          : e;
    }
  }

  private static Set<String> texts(JsonValue json, String complaint) {
    Set<String> texts = new HashSet<>();
    if (!(json instanceof JsonValue.JsonArray array)) {
      throw LectusException.badRequest(complaint);
    }
    for (JsonValue element : array.elements()) {
      if (!(element instanceof JsonValue.JsonString text)) {
        throw LectusException.badRequest(complaint);
      }
      texts.add(text.value());
    }
    return texts;
  }

  /**
   * What a reader sees of a stored feed, by how documents stand to its channels.
   *
   * @param allLeaves whether every leaf of a document is shown
   */
  record FeedView(FeedFilter.OfFeed filter, boolean allLeaves) {

    /** Whether the reader is told of documents that leave, or only of those that are deleted. */
    public boolean tellsOfDepartures() {
      return filter.left() || feed().definition().channels().isPresent();
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
      boolean isDeletion = feed().definition().channels().isPresent() && entry.deleted();
      return isDeletion
          ? Optional.of(new Passing(entry, Optional.of(List.of(entry.winner())), false))
          : Optional.empty();
    }

    private static Passing departure(ChangeEntry entry) {
      return new Passing(entry, Optional.of(List.of(entry.winner())), true);
    }
  }
}
