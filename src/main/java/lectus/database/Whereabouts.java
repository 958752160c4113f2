package lectus.database;

import java.time.Instant;
import java.util.Objects;
import java.util.OptionalLong;

/** Where a database is served. Every change moves the version that each of its writes validates. */
public sealed interface Whereabouts {
  Whereabouts HERE = new Here();

  record Here() implements Whereabouts {}

  /**
   * The last changes follow to another place. Nothing may be written here until it is known that
   * the other place has not taken over.
   *
   * @param relocation its id
   * @param place the URL that the database will have there, without a user or a slash at its end
   */
  record Frozen(String relocation, String place) implements Whereabouts {}

  /**
   * Another place has taken over.
   *
   * @param relocation its id
   * @param place the URL of the database there, without a user or a slash at its end
   * @param secret vouches there for users of this place
   * @param untilSeconds since 1970: how long requests are passed on; empty: as long as this is
   *     stored
   */
  record Moved(String relocation, String place, Secret secret, OptionalLong untilSeconds)
      implements Whereabouts {
    /** Returns for how many milliseconds requests are passed on yet; 0: no longer. */
    public long millisLeft() {
      return untilSeconds.isPresent()
          ? Math.max(0, untilSeconds.getAsLong() * 1_000 - Instant.now().toEpochMilli())
          : Long.MAX_VALUE;
    }
  }

  /** What two places know and nobody else may see. */
  final class Secret {
    private final String text;

    public Secret(String text) {
      this.text = text;
    }

    public String text() {
      return text;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Secret secret && secret.text.equals(text);
    }

    @Override
    public int hashCode() {
      return Objects.hash(text);
    }

    /** Hides it. */
    @Override
    public String toString() {
      return "a secret";
    }
  }
}
