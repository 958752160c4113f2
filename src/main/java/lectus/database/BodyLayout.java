package lectus.database;

import java.util.Locale;
import java.util.Optional;

/** How a database stores the bodies of its documents. */
public enum BodyLayout {
  /** A small body's leaves lie in the row of their revision's metadata. */
  INLINE,
  /** As RFC 004 says, each leaf has a row of its own; only large bodies are text. */
  RFC004;

  /** Returns the layout of this name; empty if there is none. */
  public static Optional<BodyLayout> named(String name) {
    for (BodyLayout layout : values()) {
      if (layout.text().equals(name)) {
        return Optional.of(layout);
      }
    }
    return Optional.empty();
  }

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
