package lectus.document.read;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import lectus.database.Partition;
import lectus.document.AttachmentsShown;
import lectus.document.read.AllDocsQuery.ListKey;
import lectus.document.read.AllDocsQuery.Listing;
import lectus.error.LectusException;
import lectus.json.JsonValue;

/**
 * Collects the arguments of a list query one by one; a later one takes precedence. CouchDB parses
 * list queries as it parses view queries, so the arguments that make sense only for views are
 * checked as well.
 */
final class CollectedArguments {
  private Optional<List<ListKey>> keys = Optional.empty();
  private Optional<ListKey> start = Optional.empty();
  private Optional<ListKey> end = Optional.empty();
  private Optional<String> startId = Optional.empty();
  private Optional<String> endId = Optional.empty();
  private Optional<Partition> partition = Optional.empty();
  private Optional<Boolean> group = Optional.empty();
  private OptionalLong groupLevel = OptionalLong.empty();
  private boolean reduce;
  private boolean inclusiveEnd = true;
  private boolean descending;
  private boolean includeDocs;
  private boolean conflicts;
  private boolean updateSeq;
  private boolean attachments;
  private boolean encodings;
  private long skip;
  private long limit = Long.MAX_VALUE;

  /** Queries these keys, in this order, whatever other arguments say about keys. */
  void askFor(JsonValue.JsonArray array) {
    keys = Optional.of(keysOf(array));
  }

  /**
   * @throws LectusException {@code query_parse_error}, {@code bad_request}, {@code
   *     illegal_partition}
   */
  void take(String name, ListArgument argument) {
    switch (name) {
      case "key" -> takeKey(new ListKey(argument.json()));
      case "keys" -> takeKeys(argument.json());
      case "startkey", "start_key" -> start = Optional.of(new ListKey(argument.json()));
      case "endkey", "end_key" -> end = Optional.of(new ListKey(argument.json()));
      case "startkey_docid", "start_key_doc_id" -> startId = Optional.of(argument.text());
      case "endkey_docid", "end_key_doc_id" -> endId = Optional.of(argument.text());
      case "inclusive_end" -> inclusiveEnd = argument.flag();
      case "descending" -> descending = argument.flag();
      case "skip" -> skip = argument.count();
      case "limit" -> limit = argument.count();
      case "include_docs" -> includeDocs = argument.flag();
      case "conflicts" -> conflicts = argument.flag();
      case "attachments" -> attachments = argument.flag();
      case "att_encoding_info" -> encodings = argument.flag();
      case "update_seq" -> updateSeq = argument.flag();
      case "partition" -> partition = Optional.of(Partition.of(argument.text()));
      default -> takeOfViews(name, argument);
    }
  }

  private void takeOfViews(String name, ListArgument argument) {
    switch (name) {
      case "group" -> group = Optional.of(argument.flag());
      case "group_level" -> groupLevel = OptionalLong.of(argument.count());
      case "reduce" -> reduce = argument.flag();
      case "stale" -> argument.checkOneOf(name, "ok", "update_after");
      case "stable" -> argument.checkOneOf(name, "true", "false");
      case "update" -> argument.checkOneOf(name, "true", "false", "lazy");
      case "sorted" -> argument.flag();
      default -> {} // CouchDB ignores unknown arguments
    }
  }

  private void takeKey(ListKey key) {
    start = Optional.of(key);
    end = Optional.of(key);
  }

  /** A single key is a range; it does not replace explicitly requested keys. */
  private void takeKeys(JsonValue json) {
    if (!(json instanceof JsonValue.JsonArray array)) {
      throw ListArgument.unparsable("`keys` must be an array of strings.");
    }
    List<ListKey> taken = keysOf(array);
    if (taken.size() == 1) {
      takeKey(taken.get(0));
    } else {
      keys = Optional.of(taken);
    }
  }

  private static List<ListKey> keysOf(JsonValue.JsonArray array) {
    return array.elements().stream().map(ListKey::new).toList();
  }

  /** Resets these arguments, which each of several queries sets for itself. */
  void forgetKeysAndGroups() {
    keys = Optional.empty();
    group = Optional.empty();
    groupLevel = OptionalLong.empty();
  }

  /**
   * Returns the query that all arguments make up.
   *
   * @throws LectusException {@code query_parse_error}: arguments contradict each other
   */
  AllDocsQuery query(Listing listing) {
    checkViews();
    checkKeys();
    boolean within = partition.isPresent();
    return new AllDocsQuery(
        listing,
        keys,
        start.or(() -> within ? Optional.empty() : startId.map(ListKey::of)),
        end.or(() -> within ? Optional.empty() : endId.map(ListKey::of)),
        inclusiveEnd,
        descending,
        skip,
        limit,
        includeDocs,
        conflicts,
        updateSeq,
        AttachmentsShown.of(attachments, encodings),
        listing == Listing.ALL ? partition : Optional.empty());
  }

  private void checkViews() {
    long level = groupLevel.orElse(group.orElse(false) ? Long.MAX_VALUE : 0);
    if (level > 0 && !group.orElse(true)) {
      throw ListArgument.unparsable("Can't specify group=false and group_level>0 at the same time");
    }
    if (reduce) {
      throw ListArgument.unparsable("Reduce is invalid for map-only views.");
    }
    if (level > 0) {
      throw ListArgument.unparsable("Invalid use of grouping on a map view.");
    }
  }

  private void checkKeys() {
    if (keys.isEmpty() || keys.get().isEmpty()) {
      return;
    }
    boolean noRange = start.isEmpty() && end.isEmpty();
    boolean sameKey = start.map(List::of).equals(keys) && end.map(List::of).equals(keys);
    if (!noRange && !sameKey) {
      throw incompatibleKeys();
    }
  }

  static LectusException incompatibleKeys() {
    return ListArgument.unparsable("`keys` is incompatible with `key`, `start_key` and `end_key`");
  }
}
