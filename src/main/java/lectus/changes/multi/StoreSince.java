package lectus.changes.multi;

import lectus.changes.page.SinceText;
import lectus.error.LectusException;

/** Where a feed of the whole store, or of many of its databases, begins. */
public sealed interface StoreSince {
  /** Returns the text that {@link #parse} reads. */
  String text();

  /** {@code now}: after the last commit. */
  record Now() implements StoreSince {
    @Override
    public String text() {
      return "now";
    }
  }

  /** After a position that a feed returned; the beginning is one. */
  record After(StorePosition position) implements StoreSince {
    @Override
    public String text() {
      return position.text();
    }
  }

  StoreSince BEGINNING = new After(StorePosition.BEGINNING);

  /**
   * @param text {@code 0}, {@code now} or a position, bare or in JSON's quotes
   * @throws LectusException {@code bad_request}
   */
  static StoreSince parse(String text) {
    String bare = SinceText.bare(text);
    if (bare.equals("now")) {
      return new Now();
    }
    return StorePosition.parse(bare).map(After::new).orElseThrow(SinceText::malformed);
  }
}
