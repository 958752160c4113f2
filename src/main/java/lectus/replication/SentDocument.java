package lectus.replication;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lectus.attachment.ContentId;
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

  /** Reads what has to be known of the document that is the next value, and takes its bytes. */
  static SentDocument of(RawJson json) throws IOException {
    int from = json.position();
    Optional<String> id = Optional.empty();
    Optional<JsonObject> attachments = Optional.empty();
    json.open('{');
    while (json.nextMember()) {
      if (json.isNamed("_id")) {
        id = Optional.of(json.text());
      } else if (json.isNamed("_attachments")) {
        attachments =
            Optional.of(json.value())
                .filter(JsonObject.class::isInstance)
                .map(JsonObject.class::cast)
                .filter(all -> !all.members().isEmpty());
      } else {
        json.skip();
      }
    }
    return new SentDocument(
        json.from(from),
        id.orElseThrow(() -> new IOException("A document without an id.")),
        attachments);
  }

  /**
   * Whether it can be stored as it is: it is this leaf, has no attachments, and names the revisions
   * before it, if there are some.
   */
  boolean isWhole(String ofId, String revision) throws IOException {
    if (!id.equals(ofId) || attachments.isPresent()) {
      return false;
    }
    boolean isLeaf = false;
    boolean hasHistory = revision.startsWith("1-");
    RawJson members = new RawJson(json);
    members.open('{');
    while (!(isLeaf && hasHistory) && members.nextMember()) {
      if (members.isNamed("_rev")) {
        isLeaf = members.text().equals(revision);
      } else {
        hasHistory |= members.isNamed("_revisions");
        members.skip();
      }
    }
    return isLeaf && hasHistory;
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

  /** Whether its attachments are stubs that name contents, and may be taken from elsewhere. */
  boolean isNamed() {
    return attachments.isPresent()
        && attachments.get().members().values().stream()
            .allMatch(
                it ->
                    isTrue(it, "stub")
                        && it instanceof JsonObject stub
                        && ContentId.ofDigest(text(stub, "digest")).isPresent());
  }

  /** Returns the digests of its attachments but those that are missing. */
  Set<String> digestsBut(List<String> missing) {
    Map<String, JsonValue> all = attachments.orElseThrow().members();
    Set<String> digests = new LinkedHashSet<>();
    all.values().forEach(it -> digests.add(text((JsonObject) it, "digest")));
    missing.stream()
        .filter(all::containsKey)
        .forEach(it -> digests.remove(text((JsonObject) all.get(it), "digest")));
    return digests;
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
    RawJson walk = new RawJson(json);
    walk.open('{');
    while (walk.nextMember() && !walk.isNamed("_attachments")) {
      walk.skip();
    }
    return new SentDocument(walk.with(all.toBytes()), id, Optional.of(all));
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
    return object.textOf(member).orElse("");
  }

  /** A walk over values in JSON, which are looked at once. It believes that they are JSON. */
  static final class RawJson {
    private final byte[] json;
    private int at;
    private int nameFrom;
    private int nameTo;

    RawJson(byte[] json) {
      this.json = json;
    }

    int position() {
      skipBlanks();
      return at;
    }

    boolean isAtObject() {
      skipBlanks();
      return at < json.length && json[at] == '{';
    }

    /** Returns the bytes from a position up to here. */
    byte[] from(int position) {
      return Arrays.copyOfRange(json, position, at);
    }

    /** Goes into the next value, an object or an array. */
    void open(char bracket) throws IOException {
      expect(bracket);
    }

    /** Goes to the value of the next member; false behind the object, which has no more. */
    boolean nextMember() throws IOException {
      if (!goesOn('}')) {
        return false;
      }
      if (json[at] != '"') {
        throw notJson();
      }
      nameFrom = at;
      skip();
      nameTo = at;
      expect(':');
      return true;
    }

    /** Goes to the next element; false behind the array, which has no more. */
    boolean nextElement() throws IOException {
      return goesOn(']');
    }

    private boolean goesOn(char bracket) throws IOException {
      skipBlanks();
      if (at < json.length && json[at] == ',') {
        at++;
        skipBlanks();
      }
      if (at >= json.length) {
        throw notJson();
      }
      boolean isEnd = json[at] == bracket;
      at += isEnd ? 1 : 0;
      return !isEnd;
    }

    /**
     * @param name without characters that JSON escapes
     */
    boolean isNamed(String name) {
      if (nameTo - nameFrom != name.length() + 2) {
        return false;
      }
      for (int i = 0; i < name.length(); i++) {
        if (json[nameFrom + 1 + i] != name.charAt(i)) {
          return false;
        }
      }
      return true;
    }

    void skip() throws IOException {
      at = new ValueEnd().in(json, position(), json.length);
      if (at < 0) {
        throw notJson();
      }
    }

    JsonValue value() throws IOException {
      int from = position();
      skip();
      return JsonValue.parse(from(from));
    }

    /** Returns the next value, a text. Most have nothing that JSON escapes. */
    String text() throws IOException {
      int from = position();
      skip();
      boolean isPlain = json[from] == '"';
      for (int i = from; isPlain && i < at; i++) {
        isPlain = json[i] >= ' ' && json[i] != '\\';
      }
      if (isPlain) {
        return new String(json, from + 1, at - from - 2, StandardCharsets.US_ASCII);
      }
      if (JsonValue.parse(from(from)) instanceof JsonString text) {
        return text.value();
      }
      throw notJson();
    }

    /** Returns all with another value in place of the next one. */
    byte[] with(byte[] value) throws IOException {
      int from = position();
      skip();
      return new JsonBuffer(json.length + value.length)
          .raw(json, 0, from)
          .raw(value)
          .raw(json, at, json.length)
          .toBytes();
    }

    private void skipBlanks() {
      while (at < json.length && isBlank(json[at])) {
        at++;
      }
    }

    private void expect(char wanted) throws IOException {
      skipBlanks();
      if (at >= json.length || json[at] != wanted) {
        throw notJson();
      }
      at++;
    }
  }

  private static boolean isBlank(byte octet) {
    return octet <= ' ' && octet >= 0;
  }

  /** Finds the end of a value of which part after part comes. */
  private static final class ValueEnd {
    private int depth;
    private boolean inString;
    private boolean escapes;
    private boolean isBare;

    /**
     * Returns the position behind the value; -1 if it does not end before {@code to}. Then the next
     * call goes on there.
     */
    int in(byte[] json, int from, int to) {
      int at = from;
      while (at < to) {
        if (inString) {
          at = afterString(json, at, to);
          if (inString) {
            return -1;
          }
          if (depth == 0) {
            return at;
          }
          continue;
        }
        byte octet = json[at];
        if (isBare && depth == 0 && endsBare(octet)) {
          return at;
        }
        at++;
        if (octet == '"') {
          inString = true;
        } else if (octet == '{' || octet == '[') {
          depth++;
        } else if (octet == '}' || octet == ']') {
          depth--;
          if (depth <= 0) {
            return at;
          }
        } else {
          isBare = true;
        }
      }
      return -1;
    }

    /** Returns where the string ends in which it is; else it is still in it. */
    private int afterString(byte[] json, int from, int to) {
      int at = from;
      if (escapes) {
        escapes = false;
        at++;
      }
      for (at = JsonBuffer.plainEnd(json, at, to);
          at < to;
          at = JsonBuffer.plainEnd(json, at, to)) {
        byte octet = json[at++];
        if (octet == '"') {
          inString = false;
          return at;
        }
        if (octet == '\\') {
          escapes = at == to;
          at++;
        }
      }
      return at;
    }

    /** Whether a number or a word has ended before this byte. */
    private static boolean endsBare(byte octet) {
      return octet == ',' || octet == '}' || octet == ']' || isBlank(octet);
    }
  }

  /** A document is longer than it may be. No repetition helps. */
  static final class TooLongDocument extends IOException {
    private static final long serialVersionUID = 1;

    TooLongDocument(int most) {
      super("It has more than " + most + " bytes.");
    }
  }

  private static IOException notJson() {
    return new IOException("An answer that is no JSON of documents.");
  }

  /** Is asked before a document takes more memory. */
  interface Growth {
    /**
     * @param bytes of all of the document that has come
     * @throws IOException there is not so much
     */
    void upTo(int bytes) throws IOException;
  }

  /** The elements of an array that comes part by part: one that is the answer, or in a member. */
  static final class RawElements {
    private static final int WINDOW = 32 << 10;

    private final InputStream in;
    private final int most;
    private final Growth growth;

    /** What has come and was not taken is from {@code at} to {@code filled}. */
    private byte[] window = new byte[WINDOW];

    private int at;
    private int filled;
    private boolean ended;

    /**
     * @param member the name of the first member of the answer, which has the array; empty: the
     *     answer is the array
     * @param most how many bytes an element may have
     */
    RawElements(InputStream in, Optional<String> member, int most, Growth growth)
        throws IOException {
      this.in = in;
      this.most = most;
      this.growth = growth;
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

    /**
     * Returns the next element; empty behind the last one.
     *
     * @throws TooLongDocument it is longer than it may be
     */
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
      at--;
      ValueEnd value = new ValueEnd();
      int end = value.in(window, at, filled);
      while (end < 0) {
        int looked = filled - at;
        more();
        end = value.in(window, at + looked, filled);
      }
      if (end - at > most) {
        throw new TooLongDocument(most);
      }
      byte[] element = Arrays.copyOfRange(window, at, end);
      at = end;
      return Optional.of(element);
    }

    /** Reads something behind what is there, and has room for it. */
    private void more() throws IOException {
      int kept = filled - at;
      if (kept > most) {
        throw new TooLongDocument(most);
      }
      if (kept == window.length) {
        int length = (int) Math.min(2L * kept, most + 1L);
        growth.upTo(length);
        window = Arrays.copyOf(window, length);
      } else if (at > 0) {
        byte[] usual = kept < WINDOW && window.length > WINDOW ? new byte[WINDOW] : window;
        System.arraycopy(window, at, usual, 0, kept);
        window = usual;
        at = 0;
        filled = kept;
      }
      int read = in.read(window, filled, window.length - filled);
      if (read < 0) {
        throw new IOException("The answer ends early.");
      }
      filled += read;
    }

    /** So that the connection can be used again. */
    private void drain() throws IOException {
      while (in.read(window) >= 0) {
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
        more();
      }
      return window[at++] & 0xff;
    }
  }
}
