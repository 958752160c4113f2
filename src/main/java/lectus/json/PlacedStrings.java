package lectus.json;

import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.error.LectusException;

/**
 * Takes strings at one place out of JSON that comes piece by piece, however long they are. It sees
 * brackets, commas, colons and strings, and nothing else: who parses the rest finds what is no
 * JSON. Its memory does not depend on what comes. Not thread-safe.
 */
public final class PlacedStrings {
  /** Bytes of a character in a name at most, as an escape. */
  private static final int LONGEST_ESCAPE = 6;

  private final List<Step> way;
  private final Set<String> wanted;
  private final Taker taker;
  private final int longestName;
  private final ByteArrayOutputStream name = new ByteArrayOutputStream();
  private State state = State.STRUCTURE;
  private boolean escaped;

  /** How many containers are open. */
  private long depth;

  /** How many of them lie on the way, from the outermost on. */
  private int onWay;

  /** Whether the next string of the innermost container on the way is a name. */
  private boolean nameNext;

  /** Whether the next value of that container is on the way. */
  private boolean fits;

  private String member = "";
  private long objects;

  /**
   * A step from a container into one of its values.
   *
   * @param name of the member; empty: of any
   */
  public record Step(boolean isElement, Optional<String> name) {
    public static final Step ELEMENT = new Step(true, Optional.empty());
    public static final Step ANY_MEMBER = new Step(false, Optional.empty());

    public static Step member(String name) {
      return new Step(false, Optional.of(name));
    }

    private boolean takes(String other) {
      return name.isEmpty() || name.get().equals(other);
    }
  }

  /** Receives what comes, in its order. */
  public interface Taker {
    /** Takes what is not in such a string; its quotes are. */
    void rest(byte[] json, int from, int to);

    /**
     * A string begins.
     *
     * @param member its name
     * @param object the number of the object whose member it is
     */
    void begins(String member, long object);

    /** Takes a part of the string, with its escapes. */
    void content(byte[] json, int from, int to);

    void ends();
  }

  private enum State {
    STRUCTURE,
    NAME,
    WANTED,
    OTHER
  }

  /**
   * @param way from the outermost value to the objects
   * @param wanted names of those of their members that are taken if they are strings
   */
  public PlacedStrings(List<Step> way, Set<String> wanted, Taker taker) {
    this.way = List.copyOf(way);
    this.wanted = Set.copyOf(wanted);
    this.taker = taker;
    int ofWay =
        way.stream().mapToInt(step -> step.name().map(String::length).orElse(0)).max().orElse(0);
    int ofWanted = wanted.stream().mapToInt(String::length).max().orElse(0);
    this.longestName = LONGEST_ESCAPE * Math.max(ofWay, ofWanted);
  }

  public void take(byte[] json, int from, int to) {
    int at = from;
    while (at < to) {
      at = state == State.STRUCTURE ? structure(json, at, to) : string(json, at, to);
    }
  }

  /** Returns where the next string begins. */
  private int structure(byte[] json, int from, int to) {
    int at = from;
    while (at < to && json[at] != '"') {
      note(json[at++]);
    }
    boolean isString = at < to;
    int end = isString ? at + 1 : at;
    taker.rest(json, from, end);
    if (isString) {
      beginString();
    }
    return end;
  }

  private void note(byte octet) {
    switch (octet) {
      case '{' -> open(false);
      case '[' -> open(true);
      case '}', ']' -> close();
      case ',' -> {
        if (depth == onWay) {
          fits = takesElements();
          nameNext = !fits;
        }
      }
      default -> {}
    }
  }

  private void open(boolean array) {
    boolean isNext = depth == onWay && (onWay == 0 || fits) && onWay <= way.size();
    depth++;
    if (isNext && array == (onWay < way.size() && way.get(onWay).isElement())) {
      onWay++;
      fits = array;
      nameNext = !array;
      objects += onWay > way.size() ? 1 : 0;
    }
  }

  private void close() {
    if (depth == onWay && onWay > 0) {
      onWay--;
    }
    depth = Math.max(0, depth - 1);
    fits = false;
    nameNext = false;
  }

  /** Whether the innermost container on the way is an array. */
  private boolean takesElements() {
    return onWay > 0 && onWay <= way.size() && way.get(onWay - 1).isElement();
  }

  private void beginString() {
    boolean isInside = onWay > 0 && depth == onWay;
    if (isInside && nameNext) {
      name.reset();
      nameNext = false;
      state = State.NAME;
    } else if (isInside && fits && onWay > way.size()) {
      fits = false;
      taker.begins(member, objects);
      state = State.WANTED;
    } else {
      state = State.OTHER;
    }
  }

  /** Returns where the string ends, or the piece. */
  private int string(byte[] json, int from, int to) {
    int at = from;
    boolean isEnd = false;
    while (at < to && !isEnd) {
      byte octet = json[at++];
      if (escaped) {
        escaped = false;
      } else if (octet == '\\') {
        escaped = true;
      } else {
        isEnd = octet == '"';
      }
    }
    int end = isEnd ? at - 1 : at;
    if (state == State.WANTED) {
      taker.content(json, from, end);
      if (isEnd) {
        taker.ends();
      }
      taker.rest(json, end, at);
    } else {
      if (state == State.NAME) {
        name.write(json, from, Math.min(end - from, Math.max(0, longestName + 1 - name.size())));
      }
      taker.rest(json, from, at);
    }
    if (isEnd) {
      endString();
    }
    return at;
  }

  private void endString() {
    if (state == State.NAME) {
      String text = name.size() > longestName ? "" : unescaped(name.toByteArray());
      boolean isLast = onWay > way.size();
      fits = isLast ? wanted.contains(text) : way.get(onWay - 1).takes(text);
      member = isLast ? text : "";
    }
    state = State.STRUCTURE;
  }

  /**
   * Returns the text of a string.
   *
   * @param content between its quotes
   * @return an empty text if it is no string
   */
  public static String unescaped(byte[] content) {
    byte[] quoted = new byte[content.length + 2];
    System.arraycopy(content, 0, quoted, 1, content.length);
    quoted[0] = '"';
    quoted[content.length + 1] = '"';
    try (JsonInput input = JsonInput.of(quoted)) {
      input.next();
      return input.text();
    } catch (LectusException none) {
      return "";
    }
  }
}
