package lectus.feed.page;

import lectus.database.Sequence;
import lectus.error.LectusException;
import lectus.feed.SinceText;

/** The parameter {@code since}: where a feed begins. */
public sealed interface Since {
  /** Returns the text that {@link #parse} reads. */
  String text();

  /** {@code 0}. */
  record Beginning() implements Since {
    @Override
    public String text() {
      return "0";
    }
  }

  /** {@code now}: after the last change. */
  record Now() implements Since {
    @Override
    public String text() {
      return "now";
    }
  }

  /** After a sequence that a feed returned. */
  record After(Sequence sequence) implements Since {
    @Override
    public String text() {
      return sequence.toString();
    }
  }

  /**
   * @param text {@code 0}, {@code now} or a sequence, bare or in JSON's quotes
   * @throws LectusException {@code bad_request}
   */
  static Since parse(String text) {
    String bare = SinceText.bare(text);
    if (bare.equals("0")) {
      return new Beginning();
    }
    if (bare.equals("now")) {
      return new Now();
    }
    return Sequence.parse(bare).map(After::new).orElseThrow(SinceText::malformed);
  }
}
