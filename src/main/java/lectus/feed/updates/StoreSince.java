package lectus.feed.updates;

import lectus.error.LectusException;
import lectus.feed.SinceText;

/** Where a feed over the whole store, or many of its databases, begins. */
public sealed interface StoreSince {
  /** As {@link #parse} reads it. */
  String text();

  /** {@code now}: behind the last commit. */
  record Now() implements StoreSince {
    @Override
    public String text() {
      return "now";
    }
  }

  /** Behind a position that a feed gave; the beginning is one. */
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
