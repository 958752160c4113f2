package lectus.view;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import lectus.database.Partition;
import lectus.document.AttachmentsShown;
import lectus.document.read.ListArgument;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.TupleWriter;
import lectus.view.TreeReader.Span;
import lectus.view.ViewDefinition.View;

/**
 * A query of a view: its arguments are taken one by one, a later one takes precedence, and checked
 * together, with CouchDB's sentences.
 */
final class ViewQuery {
  private static final int AFTER = 0xff;

  /** How new the view has to be. */
  enum Freshness {
    /** As the database is when the query comes. */
    NEWEST,
    /** As it is. */
    AS_IS,
    /** As it is; it is brought up to date afterwards. */
    LATER
  }

  private Optional<List<JsonValue>> keys = Optional.empty();
  private Optional<JsonValue> start = Optional.empty();
  private Optional<JsonValue> end = Optional.empty();
  private Optional<String> startId = Optional.empty();
  private Optional<String> endId = Optional.empty();
  private Optional<Boolean> reduce = Optional.empty();
  private Optional<Boolean> includeDocs = Optional.empty();
  private Optional<Boolean> conflicts = Optional.empty();
  private Optional<Boolean> group = Optional.empty();
  private OptionalLong level = OptionalLong.empty();
  private Optional<Partition> partition = Optional.empty();
  private Freshness freshness = Freshness.NEWEST;
  private boolean inclusiveEnd = true;
  private boolean descending;
  private boolean attachments;
  private boolean encodings;
  private boolean updateSeq;
  private boolean reduces;
  private long groupLevel;
  private long skip;
  private long limit = Long.MAX_VALUE;

  /**
   * @throws LectusException {@code query_parse_error}, {@code bad_request}
   */
  void take(String name, ListArgument argument) {
    switch (name) {
      case "key" -> {
        start = Optional.of(argument.json());
        end = start;
      }
      case "keys" -> takeKeys(array(argument));
      case "startkey", "start_key" -> start = Optional.of(argument.json());
      case "endkey", "end_key" -> end = Optional.of(argument.json());
      case "startkey_docid", "start_key_doc_id" -> startId = Optional.of(argument.text());
      case "endkey_docid", "end_key_doc_id" -> endId = Optional.of(argument.text());
      case "inclusive_end" -> inclusiveEnd = argument.flag();
      case "descending" -> descending = argument.flag();
      case "skip" -> skip = argument.count();
      case "limit" -> limit = argument.count();
      case "include_docs" -> includeDocs = Optional.of(argument.flag());
      case "conflicts" -> conflicts = Optional.of(argument.flag());
      case "attachments" -> attachments = argument.flag();
      case "att_encoding_info" -> encodings = argument.flag();
      case "update_seq" -> updateSeq = argument.flag();
      case "partition" -> partition = Optional.of(Partition.of(argument.text()));
      default -> takeOfReduce(name, argument);
    }
  }

  private void takeOfReduce(String name, ListArgument argument) {
    switch (name) {
      case "reduce" -> reduce = Optional.of(argument.flag());
      case "group" -> group = Optional.of(argument.flag());
      case "group_level" -> level = OptionalLong.of(argument.count());
      case "sorted" -> argument.flag();
      case "stable" -> argument.checkOneOf(name, "true", "false");
      case "stale" -> {
        argument.checkOneOf(name, "ok", "update_after", "false");
        freshness =
            switch (argument.text()) {
              case "ok" -> Freshness.AS_IS;
              case "false" -> Freshness.NEWEST;
              default -> Freshness.LATER;
            };
      }
      case "update" -> {
        argument.checkOneOf(name, "true", "false", "lazy");
        freshness =
            switch (argument.text()) {
              case "true" -> Freshness.NEWEST;
              case "false" -> Freshness.AS_IS;
              default -> Freshness.LATER;
            };
      }
      default -> {} // CouchDB ignores unknown arguments
    }
  }

  /** As in CouchDB, a single one is a {@code key}. */
  private void takeKeys(List<JsonValue> asked) {
    if (asked.size() == 1) {
      start = Optional.of(asked.get(0));
      end = start;
    } else {
      keys = Optional.of(asked);
    }
  }

  private static List<JsonValue> array(ListArgument keys) {
    if (keys.json() instanceof JsonArray array) {
      return array.elements();
    }
    throw ListArgument.unparsable("`keys` must be an array of strings.");
  }

  /** Resets these arguments, which each of several queries sets for itself. */
  void forgetKeysAndGroups() {
    keys = Optional.empty();
    group = Optional.empty();
    level = OptionalLong.empty();
  }

  /**
   * Checks all arguments together.
   *
   * @param isPartitioned whether each partition has rows of its own
   */
  void check(View view, boolean isPartitioned) {
    reduces = view.reduce().isPresent() && reduce.orElse(true);
    if (level.orElse(0) > 0 && !group.orElse(true)) {
      throw ListArgument.unparsable("Can't specify group=false and group_level>0 at the same time");
    }
    groupLevel = level.orElse(group.orElse(false) ? Long.MAX_VALUE : 0);
    if (view.reduce().isEmpty() && reduce.orElse(false)) {
      throw ListArgument.unparsable("Reduce is invalid for map-only views.");
    }
    if (reduces && keys.isPresent() && groupLevel != Long.MAX_VALUE) {
      throw ListArgument.unparsable("Multi-key fetches for reduce views must use `group=true`");
    }
    if (keys.filter(it -> !it.isEmpty()).isPresent() && (start.isPresent() || end.isPresent())) {
      throw ListArgument.unparsable("`keys` is incompatible with `key`, `start_key` and `end_key`");
    }
    if (!reduces && groupLevel > 0) {
      throw ListArgument.unparsable("Invalid use of grouping on a map view.");
    }
    if (reduces && includeDocs.orElse(false)) {
      throw ListArgument.unparsable("`include_docs` is invalid for reduce");
    }
    if (reduces && conflicts.isPresent()) {
      throw ListArgument.unparsable("`conflicts` is invalid for reduce views.");
    }
    checkPartition(isPartitioned);
  }

  private void checkPartition(boolean isPartitioned) {
    if (partition.isPresent() && !isPartitioned) {
      throw ListArgument.unparsable("`partition` parameter is not supported in this design doc");
    }
    if (partition.isEmpty() && isPartitioned) {
      throw ListArgument.unparsable("`partition` parameter is mandatory for queries to this view.");
    }
  }

  /**
   * @throws LectusException {@code query_parse_error}: the first key is behind the last
   */
  void checkOrder(View view) {
    if (start.isEmpty() || end.isEmpty()) {
      return;
    }
    int order =
        Arrays.compareUnsigned(
            EmittedKey.asked(start.get(), view.isRaw()), EmittedKey.asked(end.get(), view.isRaw()));
    if (descending ? order < 0 : order > 0) {
      throw ListArgument.unparsable(
          "No rows can match your key range, reverse your start_key and end_key or set"
              + " descending="
              + !descending);
    }
  }

  Freshness freshness() {
    return freshness;
  }

  boolean reduces() {
    return reduces;
  }

  /** Returns by how many elements of a key rows are grouped; 0: they are not. */
  long groupLevel() {
    return groupLevel;
  }

  boolean descending() {
    return descending;
  }

  long skip() {
    return skip;
  }

  long limit() {
    return limit;
  }

  boolean includeDocs() {
    return includeDocs.orElse(false);
  }

  boolean conflicts() {
    return conflicts.orElse(false);
  }

  boolean updateSeq() {
    return updateSeq;
  }

  AttachmentsShown attachments() {
    return AttachmentsShown.of(attachments, encodings);
  }

  /** Whether the rows have bytes of attachments, which are read later. */
  boolean hasBytes() {
    return includeDocs() && attachments;
  }

  /** Returns the span of all rows that the query could ask for. */
  Span whole(ViewRows rows) {
    byte[] head = rows.head(partition).toBytes();
    return new Span(head, head.length == 0 ? Optional.empty() : Optional.of(behind(head)));
  }

  /** Returns what is asked for, in the order of the answer. */
  List<Span> spans(ViewRows rows, View view) {
    if (keys.isEmpty()) {
      return List.of(span(rows, view, start, end));
    }
    List<Span> spans = new ArrayList<>();
    for (JsonValue key : keys.get()) {
      spans.add(span(rows, view, Optional.of(key), Optional.of(key)));
    }
    if (descending && !reduces) {
      Collections.reverse(spans); // as in CouchDB, where groups stay in the order asked for
    }
    return spans;
  }

  private Span span(ViewRows rows, View view, Optional<JsonValue> first, Optional<JsonValue> last) {
    Span whole = whole(rows);
    Optional<byte[]> begin = first.map(it -> begin(rows, view, it));
    Optional<byte[]> until = last.map(it -> begin(rows, view, it));
    if (!descending) {
      byte[] low = begin.map(it -> with(it, startId)).orElse(whole.from());
      Optional<byte[]> high =
          until.map(it -> inclusiveEnd ? behind(with(it, endId)) : with(it, endId));
      return new Span(low, high.or(whole::to));
    }
    Optional<byte[]> high = begin.map(it -> behind(with(it, startId)));
    byte[] low =
        until
            .map(it -> inclusiveEnd ? with(it, endId) : behind(with(it, endId)))
            .orElse(whole.from());
    return new Span(low, high.or(whole::to));
  }

  private byte[] begin(ViewRows rows, View view, JsonValue key) {
    return rows.from(partition, EmittedKey.asked(key, view.isRaw())).toBytes();
  }

  private static byte[] with(byte[] key, Optional<String> docId) {
    return docId.map(it -> new TupleWriter(key).string(it).toBytes()).orElse(key);
  }

  private static byte[] behind(byte[] prefix) {
    return new TupleWriter(prefix).octet(AFTER).toBytes();
  }
}
