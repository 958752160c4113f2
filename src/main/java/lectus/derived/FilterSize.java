package lectus.derived;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/**
 * The size of a filter, which is a selector or a list of ids. It is measured in one pass over the
 * JSON before anything is compiled.
 *
 * @param values members and elements, at any depth
 * @param characters of names, strings and numbers, in UTF-16 units
 * @param instructions of all regular expressions once compiled, at most
 */
public record FilterSize(long values, long characters, long instructions) {
  /**
   * Maximum number of instructions in the filter of an index or a stored feed, which is evaluated
   * in the transaction of each write: as many as may look at a text of 1 200 characters there.
   */
  public static final int MAX_INSTRUCTIONS_IN_WRITES = 500;

  /**
   * Bytes of a value, as JSON and compiled: objects, references, entries of maps, including those
   * of a live tail's index.
   */
  private static final int BYTES_PER_VALUE = 300;

  /** Bytes of a character, as JSON and in the form that is compared with documents. */
  private static final int BYTES_PER_CHARACTER = 4;

  /** Bytes of an instruction, compiled and with what two threads need to run it. */
  private static final int BYTES_PER_INSTRUCTION = 200;

  public static FilterSize of(JsonValue filter) {
    Count count = new Count();
    count.add(filter);
    return new FilterSize(count.values, count.characters, count.instructions);
  }

  /**
   * Returns the approximate memory of the filter in bytes. Instructions beyond the limit are never
   * compiled.
   */
  public long memory() {
    return BYTES_PER_VALUE * values
        + BYTES_PER_CHARACTER * characters
        + BYTES_PER_INSTRUCTION * Math.min(instructions, SelectorLimits.MAX_INSTRUCTIONS);
  }

  private static final class Count {
    private long values;
    private long characters;
    private long instructions;

    void add(JsonValue value) {
      values++;
      if (value instanceof JsonObject object) {
        object.members().entrySet().forEach(this::add);
      } else if (value instanceof JsonArray array) {
        array.elements().forEach(this::add);
      } else if (value instanceof JsonString text) {
        characters += text.value().length();
      } else if (value instanceof JsonNumber number) {
        characters += number.text().length();
      }
    }

    private void add(Map.Entry<String, JsonValue> member) {
      characters += member.getKey().length();
      if (member.getKey().equals("$regex") && member.getValue() instanceof JsonString text) {
        instructions += RegexSize.of(text.value()).instructions();
      }
      add(member.getValue());
    }
  }

  /**
   * An upper bound of a regular expression's compiled size, found in one pass over its text. If the
   * text is not an expression, the figures mean nothing.
   *
   * @param instructions one per character, a few more for groups, alternatives and repetitions, all
   *     multiplied by the enclosing counted repetitions; plus, once, the cost of compiling classes
   * @param depth nesting depth of groups
   */
  record RegexSize(long instructions, int depth) {
    /** Far above every limit, and small enough to be multiplied once more. */
    private static final long HUGE = 1L << 31;

    /** Instructions at the end of every program. */
    private static final int END = 2;

    /** Instructions that a repetition adds to each copy, and a group to its content. */
    private static final int EXTRA = 2;

    /** A Unicode class has hundreds of ranges; one with escapes may be case-folded rune by rune. */
    private static final int LARGE_CLASS = 32;

    /** Digits of a count; the matcher allows four. */
    private static final int LONGEST_COUNT = 9;

    static RegexSize of(String expression) {
      return new Scan(expression).run();
    }

    private static final class Scan {
      private final String text;
      private final Deque<Long> outer = new ArrayDeque<>();
      private int at;
      private int depth;

      /** For the group being read: everything before its last atom, and that atom. */
      private long before;

      private long atom;

      /** The cost of compiling classes, however often they are repeated. */
      private long classes;

      Scan(String text) {
        this.text = text;
      }

      RegexSize run() {
        while (at < text.length()) {
          char c = text.charAt(at++);
          switch (c) {
            case '\\' -> escape();
            case '[' -> characterClass();
            case '(' -> open();
            case ')' -> close();
            case '{' -> repetition();
            case '*', '+', '?' -> atom = Math.min(HUGE, atom + EXTRA);
            default -> next(1);
          }
        }
        while (!outer.isEmpty()) {
          close();
        }
        return new RegexSize(Math.min(HUGE, before + atom + classes + END), depth);
      }

      private void next(long size) {
        before = Math.min(HUGE, before + atom);
        atom = size;
      }

      /** Reads a quotation up to {@code \E}, or one character or class. */
      private void escape() {
        if (text.startsWith("Q", at)) {
          int end = text.indexOf("\\E", at);
          next((end < 0 ? text.length() : end) - at);
          next(1);
          at = end < 0 ? text.length() : end + 2;
        } else {
          next(1);
          classes += text.startsWith("p", at) || text.startsWith("P", at) ? LARGE_CLASS : 0;
          at++;
        }
      }

      /** Counts one instruction, plus a compilation cost that grows with the class. */
      private void characterClass() {
        int from = at;
        at += text.startsWith("^", at) ? 2 : 1;
        while (at < text.length() && text.charAt(at) != ']') {
          boolean isPlain = text.charAt(at) != '\\' && text.charAt(at) < 0x80;
          classes += isPlain ? 0 : LARGE_CLASS;
          at += text.charAt(at) == '\\' ? 2 : 1;
        }
        at++;
        classes = Math.min(HUGE, classes + at - from);
        next(1);
      }

      private void open() {
        next(0);
        outer.push(Math.min(HUGE, before));
        depth = Math.max(depth, outer.size());
        before = 0;
        atom = 0;
      }

      private void close() {
        long group = Math.min(HUGE, before + atom + EXTRA);
        before = outer.isEmpty() ? 0 : outer.pop();
        atom = group;
      }

      /** Reads {@code {n}}, {@code {n,}} or {@code {n,m}}; any other brace is a character. */
      private void repetition() {
        int brace = at;
        long least = count();
        long most = text.startsWith(",", at) ? maximum() : least;
        if (least < 0 || !text.startsWith("}", at)) {
          at = brace;
          next(1);
          return;
        }
        at++;
        atom = Math.min(HUGE, (atom + EXTRA) * Math.max(1, Math.max(least, most)));
      }

      private long maximum() {
        at++;
        return count();
      }

      /** Returns the number that follows; -1 if there is none. */
      private long count() {
        int from = at;
        while (at < text.length() && at - from < LONGEST_COUNT && isDigit(text.charAt(at))) {
          at++;
        }
        return at == from ? -1 : Long.parseLong(text.substring(from, at));
      }

      private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
      }
    }
  }
}
