package lectus.feed;

import lectus.error.LectusException;

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
    boolean quoted = text.length() >= 2 && text.startsWith("\"") && text.endsWith("\"");
    String bare = quoted ? text.substring(1, text.length() - 1) : text;
    if (bare.equals("now")) {
      return new Now();
    }
    return StorePosition.parse(bare)
        .map(After::new)
        .orElseThrow(
            () -> LectusException.badRequest("Malformed sequence supplied in 'since' parameter."));
  }
}
