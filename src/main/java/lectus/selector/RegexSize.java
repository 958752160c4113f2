package lectus.selector;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What a regular expression is at most once compiled, found in one pass over its text. Where the
 * text is no expression the figures mean nothing.
 *
 * @param instructions one for each character, multiplied by the counted repetitions around it
 * @param depth of groups in each other
 */
record RegexSize(long instructions, int depth) {
  /** Far above every limit, and small enough to be multiplied once more. */
  private static final long HUGE = 1L << 31;

  static RegexSize of(String expression) {
    return new Scan(expression).run();
  }

  private static final class Scan {
    private final String text;
    private final Deque<Long> outer = new ArrayDeque<>();
    private int at;
    private int depth;

    /** Of the group that is being read: all before its last atom, and that atom. */
    private long before;

    private long atom;

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
          default -> next(1);
        }
      }
      while (!outer.isEmpty()) {
        close();
      }
      return new RegexSize(before + atom, depth);
    }

    private void next(long size) {
      before = Math.min(HUGE, before + atom);
      atom = size;
    }

    /** Up to {@code \E} a quotation, else one character or class. */
    private void escape() {
      if (text.startsWith("Q", at)) {
        int end = text.indexOf("\\E", at);
        next((end < 0 ? text.length() : end) - at);
        next(1);
        at = end < 0 ? text.length() : end + 2;
      } else {
        next(1);
        at++;
      }
    }

    /** One instruction, whose cost grows with its ranges. */
    private void characterClass() {
      int from = at;
      at += text.startsWith("^", at) ? 2 : 1;
      while (at < text.length() && text.charAt(at) != ']') {
        at += text.charAt(at) == '\\' ? 2 : 1;
      }
      at++;
      next(at - from);
    }

    private void open() {
      next(2);
      outer.push(Math.min(HUGE, before + atom));
      depth = Math.max(depth, outer.size());
      before = 0;
      atom = 0;
    }

    private void close() {
      long group = Math.min(HUGE, before + atom);
      before = outer.isEmpty() ? 0 : outer.pop();
      atom = group;
    }

    /** {@code {n}}, {@code {n,}} or {@code {n,m}}; any other brace is a character. */
    private void repetition() {
      int end = text.indexOf('}', at);
      String counts = end < 0 ? "" : text.substring(at, end);
      if (!counts.matches("\\d{1,9}(,\\d{0,9})?")) {
        next(1);
        return;
      }
      long most = 1;
      for (String count : counts.split(",")) {
        most = Math.max(most, Long.parseLong(count));
      }
      atom = Math.min(HUGE, (atom + 1) * most);
      at = end + 1;
    }
  }
}
