package lectus.json;

import com.fasterxml.jackson.core.JsonToken;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import lectus.error.LectusException;

/**
 * A small JSON value as a tree: query bodies, {@code keys}, options. Documents are never read this
 * way; see {@link JsonExploder}.
 */
public sealed interface JsonValue {
  /** Deeper values are answered with 400. Only generated selectors come near this depth. */
  int DEEPEST = 500;

  /** A string or a number, and its place in an array. */
  int VALUE_BYTES = 70;

  /** The name of a member and its entry. */
  int MEMBER_BYTES = 100;

  /** An array, and its first element. */
  int ARRAY_BYTES = 170;

  /** An object, and its first value. */
  int OBJECT_BYTES = 220;

  /** Members in textual order; the last of duplicates wins. */
  record JsonObject(Map<String, JsonValue> members) implements JsonValue {
    @Override
    public void writeTo(JsonBuffer out) {
      out.object(members, it -> it.writeTo(out));
    }

    public Optional<JsonValue> get(String name) {
      return Optional.ofNullable(members.get(name));
    }
  }

  record JsonArray(List<JsonValue> elements) implements JsonValue {
    @Override
    public void writeTo(JsonBuffer out) {
      out.octet('[').each(elements, it -> it.writeTo(out)).octet(']');
    }
  }

  record JsonString(String value) implements JsonValue {
    @Override
    public void writeTo(JsonBuffer out) {
      out.string(value);
    }
  }

  /** A number as written: {@code 1.0} and {@code 1} differ. */
  record JsonNumber(String text) implements JsonValue {
    @Override
    public void writeTo(JsonBuffer out) {
      out.ascii(text);
    }
  }

  record JsonBool(boolean value) implements JsonValue {
    @Override
    public void writeTo(JsonBuffer out) {
      out.bool(value);
    }
  }

  record JsonNull() implements JsonValue {
    @Override
    public void writeTo(JsonBuffer out) {
      out.nil();
    }
  }

  /**
   * Returns how many bytes the tree of a text takes at most, about, before it is parsed. Small
   * values take up to fifty times as much as their text.
   */
  static long treeBytes(byte[] utf8) {
    long bytes = utf8.length;
    boolean isText = false;
    for (int i = 0; i < utf8.length; i++) {
      byte octet = utf8[i];
      if (isText) {
        if (octet == '\\') {
          i++;
        } else {
          isText = octet != '"';
        }
      } else {
        isText = octet == '"';
        bytes += besideText(octet);
      }
    }
    return bytes;
  }

  private static int besideText(byte octet) {
    return switch (octet) {
      case ',' -> VALUE_BYTES;
      case ':' -> MEMBER_BYTES;
      case '[' -> ARRAY_BYTES;
      case '{' -> OBJECT_BYTES;
      default -> 0;
    };
  }

  /**
   * Parses a text that consists of one value.
   *
   * @throws LectusException 400 {@code bad_request}
   */
  static JsonValue parse(byte[] utf8) {
    try (JsonInput input = JsonInput.of(utf8)) {
      input.next();
      JsonValue value = read(input);
      input.expectEnd();
      return value;
    }
  }

  /**
   * Reads the value at the input's current token. Afterwards the input stands on its last token.
   *
   * @throws LectusException 400 {@code bad_request}
   */
  static JsonValue read(JsonInput input) {
    return read(input, DEEPEST);
  }

  /** Returns a member of an object; empty of any other value. */
  default Optional<JsonValue> member(String name) {
    return this instanceof JsonObject object ? object.get(name) : Optional.empty();
  }

  /** Returns a member that is a string. */
  default Optional<String> textOf(String member) {
    return member(member).orElse(null) instanceof JsonString text
        ? Optional.of(text.value())
        : Optional.empty();
  }

  /** Returns the elements of an array; none of any other value. */
  default List<JsonValue> asList() {
    return this instanceof JsonArray array ? array.elements() : List.of();
  }

  /** Returns those elements of an array that are strings. */
  default List<String> texts() {
    return asList().stream()
        .flatMap(it -> it instanceof JsonString text ? Stream.of(text.value()) : Stream.empty())
        .toList();
  }

  /** Writes the value as JSON without white space. */
  void writeTo(JsonBuffer out);

  /** Returns the value as JSON without white space. */
  default String toJson() {
    JsonBuffer out = new JsonBuffer(64);
    writeTo(out);
    return out.toString();
  }

  /** Returns the same as UTF-8. */
  default byte[] toBytes() {
    JsonBuffer out = new JsonBuffer(64);
    writeTo(out);
    return out.toBytes();
  }

  private static JsonValue read(JsonInput input, int depth) {
    if (depth == 0) {
      throw input.invalid("nested deeper than " + DEEPEST);
    }
    return switch (input.token()) {
      case START_OBJECT -> object(input, depth);
      case START_ARRAY -> array(input, depth);
      case VALUE_STRING -> new JsonString(input.text());
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> new JsonNumber(input.text());
      case VALUE_TRUE -> new JsonBool(true);
      case VALUE_FALSE -> new JsonBool(false);
      case VALUE_NULL -> new JsonNull();
      default -> throw input.invalid("a value was expected");
    };
  }

  private static JsonObject object(JsonInput input, int depth) {
    Map<String, JsonValue> members = new LinkedHashMap<>();
    while (input.next() == JsonToken.FIELD_NAME) {
      String name = input.name();
      input.next();
      JsonValue value = read(input, depth - 1);
      members.remove(name);
      members.put(name, value);
    }
    return new JsonObject(members);
  }

  private static JsonArray array(JsonInput input, int depth) {
    List<JsonValue> elements = new ArrayList<>();
    while (input.next() != JsonToken.END_ARRAY) {
      elements.add(read(input, depth - 1));
    }
    return new JsonArray(elements);
  }
}
