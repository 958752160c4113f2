package lectus.changes.page;

import lectus.error.LectusException;

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

  /** After a position that a feed returned. */
  record After(FeedPosition position) implements Since {
    @Override
    public String text() {
      return position.text();
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
    return FeedPosition.parse(bare).map(After::new).orElseThrow(SinceText::malformed);
  }
}
