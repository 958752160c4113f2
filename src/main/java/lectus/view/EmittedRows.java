package lectus.view;

import com.fasterxml.jackson.core.JsonToken;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonInput;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.script.Outcome;
import lectus.view.ViewDefinition.View;
import lectus.view.ViewRows.Emitted;
import lectus.view.ViewRows.Place;
import lectus.view.ViewRows.Refusal;

/**
 * What the maps of an index emit for one document, as rows at their places. A document may emit 4
 * MB of JSON, so keys and values are parsed one by one, and only their bytes are kept.
 *
 * @param views rows of each view
 * @param refused why there are none
 */
record EmittedRows(Map<Integer, NavigableMap<byte[], Emitted>> views, Optional<Refusal> refused) {
  /** What one document may emit in all views. */
  static final int MAX_EMITTED = 10_000;

  /** Bytes of all rows of one document. */
  static final int MAX_DOCUMENT_BYTES = 4_000_000;

  static final EmittedRows NONE = new EmittedRows(Map.of(), Optional.empty());

  /** In place of what a map emits that emits more than a child may answer. */
  private static final JsonValue TOO_MUCH =
      new JsonObject(Map.of("error", new JsonString("output")));

  static EmittedRows refused(String reason) {
    return new EmittedRows(Map.of(), Optional.of(Refusal.of(reason)));
  }

  /**
   * Reads how the maps of all views ended: with {@code [[[key,value],…],…]}, and anything else than
   * an array for a view whose map threw.
   *
   * @throws LectusException a function does not compile
   */
  static EmittedRows of(Outcome outcome, String docId, ViewRows rows, List<View> views) {
    if (outcome instanceof Outcome.NotCompiled broken) {
      throw LectusException.badRequest("compilation_error", broken.reason());
    }
    if (outcome instanceof Outcome.Value value) {
      try {
        return new Reading(docId, rows, views).read(value.json());
      } catch (LectusException malformed) {
        // What is nested too deeply fails its document, not the view.
        return refused(malformed.error().reason());
      }
    }
    String reason = outcome.failure().map(LectusError::reason).orElse("");
    boolean mayPass = outcome instanceof Outcome.Failed failed && failed.mayPass();
    return new EmittedRows(
        Map.of(), Optional.of(mayPass ? Refusal.forNow(reason) : Refusal.of(reason)));
  }

  int count() {
    int count = 0;
    for (NavigableMap<byte[], Emitted> rows : views.values()) {
      count += rows.size();
    }
    return count;
  }

  /** Returns the bytes that a transaction needs for them. */
  long bytes() {
    long bytes = 0;
    for (NavigableMap<byte[], Emitted> rows : views.values()) {
      for (Map.Entry<byte[], Emitted> row : rows.entrySet()) {
        Emitted emitted = row.getValue();
        bytes += 2L * row.getKey().length + emitted.key().length + emitted.value().length;
      }
    }
    return bytes;
  }

  List<Place> places() {
    List<Place> places = new ArrayList<>();
    views.forEach((view, rows) -> rows.keySet().forEach(it -> places.add(new Place(view, it))));
    return places;
  }

  /** One document's rows while they are read. */
  private static final class Reading {
    private final String docId;
    private final ViewRows rows;
    private final List<View> views;
    private final Map<Integer, NavigableMap<byte[], Emitted>> all = new LinkedHashMap<>();
    private int count;
    private long bytes;

    Reading(String docId, ViewRows rows, List<View> views) {
      this.docId = docId;
      this.rows = rows;
      this.views = views;
    }

    EmittedRows read(byte[] json) {
      String text = new String(json, StandardCharsets.UTF_8);
      try (JsonInput input = JsonInput.of(json)) {
        input.next();
        for (int view = 0; input.next() != JsonToken.END_ARRAY; view++) {
          if (input.token() == JsonToken.START_ARRAY) {
            view(view, input, text);
          } else if (JsonValue.read(input).equals(TOO_MUCH)) {
            return refused("A map emits too much.");
          }
        }
      }
      return new EmittedRows(all, Optional.empty());
    }

    private void view(int view, JsonInput input, String text) {
      boolean isRaw = views.get(view).isRaw();
      NavigableMap<byte[], List<Emitted>> byKey = ViewTree.byPlace();
      while (input.next() != JsonToken.END_ARRAY) {
        count++;
        require(count <= MAX_EMITTED, "It emits more than " + MAX_EMITTED + " rows.");
        input.next();
        JsonValue key = value(input, text);
        input.next();
        byte[] value = value(input, text).toBytes();
        input.next();
        byte[] sortKey = EmittedKey.of(key, isRaw);
        require(!EmittedKey.isTooLong(sortKey), TOO_LONG);
        Emitted emitted = new Emitted(key.toBytes(), value);
        requireSize(emitted.key().length + emitted.value().length);
        byKey.computeIfAbsent(sortKey, it -> new ArrayList<>(1)).add(emitted);
      }
      NavigableMap<byte[], Emitted> places = ViewTree.byPlace();
      byKey.forEach((sortKey, emitted) -> place(sortKey, emitted, places));
      all.put(view, places);
    }

    private static final String TOO_LONG =
        "A key takes more than " + EmittedKey.MAX_BYTES + " bytes.";

    /** Characters come before what is parsed of them, which takes much more memory. */
    private static JsonValue value(JsonInput input, String text) {
      if (text.length() <= ViewRows.MAX_VALUE_BYTES) {
        return JsonValue.read(input);
      }
      String json = input.skipped(text);
      requireSize(json.length());
      return JsonValue.parse(json.getBytes(StandardCharsets.UTF_8));
    }

    private static void requireSize(int size) {
      require(
          size <= ViewRows.MAX_VALUE_BYTES,
          "A key and its value take more than " + ViewRows.MAX_VALUE_BYTES + " bytes.");
    }

    private static void require(boolean holds, String reason) {
      if (!holds) {
        throw LectusException.badRequest(reason);
      }
    }

    /** A row that was emitted, and how its value sorts. */
    private record Ranked(Emitted row, byte[] value) {
      static Ranked of(Emitted row) {
        return new Ranked(row, EmittedKey.of(JsonValue.parse(row.value()), true));
      }
    }

    /** As in CouchDB, rows with equal keys are in Erlang's order of their values. */
    private void place(
        byte[] sortKey, List<Emitted> emitted, NavigableMap<byte[], Emitted> places) {
      List<Emitted> ordered =
          emitted.size() == 1
              ? emitted
              : emitted.stream()
                  .map(Ranked::of)
                  .sorted(Comparator.comparing(Ranked::value, Arrays::compareUnsigned))
                  .map(Ranked::row)
                  .toList();
      for (int dup = 0; dup < ordered.size(); dup++) {
        Emitted row = ordered.get(dup);
        byte[] place = rows.place(sortKey, docId, dup);
        bytes += place.length + row.key().length + row.value().length;
        require(
            rows.key(ViewsSubspace.MAX_VIEWS, 0, place).length <= ViewRows.MAX_KEY_BYTES, TOO_LONG);
        require(
            bytes <= MAX_DOCUMENT_BYTES,
            "Its rows take more than " + MAX_DOCUMENT_BYTES + " bytes.");
        places.put(place, row);
      }
    }
  }
}
