package lectus.replication;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/**
 * A revision of a document on its way, as the bytes in which the source sent it.
 *
 * @param attachments as it names them
 */
public record SentDocument(byte[] json, String id, Optional<JsonObject> attachments) {
  static final String DESIGN = "_design/";

  /** Reads what has to be known of a document. */
  static SentDocument of(byte[] json) throws IOException {
    Optional<String> id = Optional.empty();
    Optional<JsonObject> attachments = Optional.empty();
    RawMembers members = new RawMembers(json, 0);
    while (members.next()) {
      if (members.isNamed("_id")) {
        id = Optional.of(((JsonString) members.value()).value());
      } else if (members.isNamed("_attachments")) {
        attachments =
            Optional.of((JsonObject) members.value()).filter(all -> !all.members().isEmpty());
      }
    }
    return new SentDocument(
        json, id.orElseThrow(() -> new IOException("A document without an id.")), attachments);
  }

  boolean isDesign() {
    return id.startsWith(DESIGN);
  }

  /** Whether attachments are named whose bytes have not come with it. */
  boolean hasStubs() {
    return attachments.stream()
        .flatMap(all -> all.members().values().stream())
        .anyMatch(it -> isTrue(it, "stub"));
  }

  private static boolean isTrue(JsonValue attachment, String member) {
    return attachment instanceof JsonObject object
        && object.get(member).orElse(null) instanceof JsonBool flag
        && flag.value();
  }

  /**
   * An attachment whose bytes follow.
   *
   * @param bytes how many follow
   */
  record Following(String name, String type, long bytes, boolean gzipped) {}

  /** Returns the document with attachments that follow without being compressed. */
  SentDocument inflated() throws IOException {
    Map<String, JsonValue> plain = new LinkedHashMap<>();
    attachments.orElseThrow().members().forEach((name, it) -> plain.put(name, inflated(it)));
    JsonObject all = new JsonObject(plain);
    RawMembers members = new RawMembers(json, 0);
    while (!members.isNamed("_attachments")) {
      members.next();
    }
    return new SentDocument(members.with(all.toBytes()), id, Optional.of(all));
  }

  private static JsonValue inflated(JsonValue attachment) {
    if (!isTrue(attachment, "follows")) {
      return attachment;
    }
    Map<String, JsonValue> plain = new LinkedHashMap<>(((JsonObject) attachment).members());
    // Of the compressed bytes.
    plain.keySet().removeAll(Set.of("encoding", "encoded_length", "digest"));
    return new JsonObject(plain);
  }

  /** Returns those whose bytes follow, in their order. */
  List<Following> following() throws IOException {
    List<Following> all = new ArrayList<>();
    if (attachments.isPresent()) {
      for (Map.Entry<String, JsonValue> each : attachments.get().members().entrySet()) {
        if (isTrue(each.getValue(), "follows")) {
          all.add(following(each.getKey(), (JsonObject) each.getValue()));
        }
      }
    }
    return all;
  }

  private static Following following(String name, JsonObject attachment) throws IOException {
    boolean gzipped = text(attachment, "encoding").equals("gzip");
    Optional<JsonValue> length =
        gzipped ? attachment.get("encoded_length") : attachment.get("length");
    if (!(length.or(() -> attachment.get("length")).orElse(null) instanceof JsonNumber number)
        || !number.text().matches("[0-9]{1,18}")) {
      throw new IOException("An attachment without a length.");
    }
    String type = text(attachment, "content_type");
    return new Following(
        name,
        type.isEmpty() ? "application/octet-stream" : type,
        Long.parseLong(number.text()),
        gzipped);
  }

  private static String text(JsonObject object, String member) {
    return object.get(member).orElse(null) instanceof JsonString text ? text.value() : "";
  }

  /** The members of an object in JSON, as the bytes that they have. */
  static final class RawMembers {
    private final byte[] json;
    private int at;
    private int nameFrom;
    private int nameTo;
    private int valueFrom;
    private int valueTo;

    /**
     * @param from where its bracket is
     */
    RawMembers(byte[] json, int from) throws IOException {
      this.json = json;
      this.at = from;
      skipBlanks();
      expect('{');
      at++;
    }

    boolean next() throws IOException {
      skipBlanks();
      if (at < json.length && json[at] == ',') {
        at++;
        skipBlanks();
      }
      if (at >= json.length || json[at] != '"') {
        expect('}');
        return false;
      }
      nameFrom = at;
      nameTo = endOfValue(json, at);
      at = nameTo;
      skipBlanks();
      expect(':');
      at++;
      skipBlanks();
      valueFrom = at;
      valueTo = endOfValue(json, at);
      at = valueTo;
      return true;
    }

    /**
     * @param name without characters that JSON escapes
     */
    boolean isNamed(String name) {
      return nameTo - nameFrom == name.length() + 2
          && new String(json, nameFrom + 1, name.length(), StandardCharsets.UTF_8).equals(name);
    }

    byte[] bytes() {
      return Arrays.copyOfRange(json, valueFrom, valueTo);
    }

    JsonValue value() {
      return JsonValue.parse(bytes());
    }

    /** Returns the object with another value in this place. */
    byte[] with(byte[] value) {
      return new JsonBuffer(json.length + value.length)
          .raw(Arrays.copyOf(json, valueFrom))
          .raw(value)
          .raw(Arrays.copyOfRange(json, valueTo, json.length))
          .toBytes();
    }

    private void skipBlanks() {
      while (at < json.length && json[at] <= ' ') {
        at++;
      }
    }

    private void expect(char wanted) throws IOException {
      if (at >= json.length || json[at] != wanted) {
        throw notJson();
      }
    }

    private static int endOfValue(byte[] json, int from) throws IOException {
      ValueEnd end = new ValueEnd();
      for (int i = from; i < json.length; i++) {
        if (end.isBefore(json[i])) {
          return i;
        }
        if (end.isAt()) {
          return i + 1;
        }
      }
      throw notJson();
    }
  }

  /** Finds the end of a value while its bytes pass. It believes that they are JSON. */
  private static final class ValueEnd {
    private int depth;
    private boolean inString;
    private boolean escaped;
    private boolean isBare;
    private boolean isAt;

    /** Whether the value, a number or a word, has ended before this byte. */
    boolean isBefore(byte octet) {
      if (inString) {
        takeOfString(octet);
        return false;
      }
      switch (octet) {
        case '"' -> inString = true;
        case '{', '[' -> depth++;
        case '}', ']' -> {
          if (isBare && depth == 0) {
            return true;
          }
          depth--;
          isAt = depth == 0;
        }
        case ',', ' ', '\n', '\r', '\t' -> {
          if (isBare && depth == 0) {
            return true;
          }
        }
        default -> isBare = true;
      }
      return false;
    }

    private void takeOfString(byte octet) {
      if (escaped) {
        escaped = false;
      } else if (octet == '\\') {
        escaped = true;
      } else if (octet == '"') {
        inString = false;
        isAt = depth == 0;
      }
    }

    /** Whether it has ended with the byte before. */
    boolean isAt() {
      return isAt;
    }
  }

  private static IOException notJson() {
    return new IOException("An answer that is no JSON of documents.");
  }

  /** The elements of an array that comes byte by byte: one that is the answer, or in a member. */
  static final class RawElements {
    private final InputStream in;
    private final int most;
    private final byte[] buffer = new byte[16 << 10];
    private int at;
    private int filled;
    private boolean ended;

    /**
     * @param member the name of the first member of the answer, which has the array; empty: the
     *     answer is the array
     * @param most how many bytes an element may have
     */
    RawElements(InputStream in, Optional<String> member, int most) throws IOException {
      this.in = in;
      this.most = most;
      if (member.isPresent()) {
        expect('{');
        expect('"');
        for (char c : member.get().toCharArray()) {
          if (octet() != c) {
            throw notJson();
          }
        }
        expect('"');
        expect(':');
      }
      expect('[');
    }

    /** Returns the next element; empty behind the last one. */
    Optional<byte[]> next() throws IOException {
      if (ended) {
        return Optional.empty();
      }
      int first = afterBlanks();
      if (first == ',') {
        first = afterBlanks();
      }
      if (first == ']') {
        ended = true;
        drain();
        return Optional.empty();
      }
      ByteArrayOutputStream element = new ByteArrayOutputStream();
      ValueEnd end = new ValueEnd();
      for (int octet = first; !end.isBefore((byte) octet); octet = octet()) {
        element.write(octet);
        if (element.size() > most) {
          throw new IOException("A document of more than " + most + " bytes.");
        }
        if (end.isAt()) {
          return Optional.of(element.toByteArray());
        }
      }
      throw notJson();
    }

    /** So that the connection can be used again. */
    private void drain() throws IOException {
      while (in.read(buffer) >= 0) {
        // What follows is of no interest.
      }
    }

    private void expect(char wanted) throws IOException {
      if (afterBlanks() != wanted) {
        throw notJson();
      }
    }

    private int afterBlanks() throws IOException {
      int octet = octet();
      while (octet <= ' ') {
        octet = octet();
      }
      return octet;
    }

    private int octet() throws IOException {
      while (at == filled) {
        filled = in.read(buffer, 0, buffer.length);
        at = 0;
        if (filled < 0) {
          filled = 0;
          throw new IOException("The answer ends early.");
        }
      }
      return buffer[at++] & 0xff;
    }
  }
}
