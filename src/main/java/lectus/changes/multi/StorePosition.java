package lectus.changes.multi;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import lectus.changes.page.ResumePoint;
import lectus.changes.page.SinceText;
import lectus.error.LectusException;
import lectus.store.Versionstamp;

/**
 * The position of a reader of many databases, or of the updates log: a point in the store's commit
 * order. It is not a database's {@code Sequence}: databases may have different incarnations, and a
 * position derived from one would skip changes of another. It never expires.
 *
 * @param known the version as of which the reader knows which stored feeds were removed; 0 if it
 *     knows that as of the point
 */
public record StorePosition(Versionstamp at, long known) implements ResumePoint<StorePosition> {
  public static final StorePosition BEGINNING = new StorePosition(Versionstamp.ZERO);

  public StorePosition(Versionstamp at) {
    this(at, 0);
  }

  /** Returns empty for anything that {@link #text} did not print. */
  public static Optional<StorePosition> parse(String text) {
    return text.equals("0")
        ? Optional.of(BEGINNING)
        : SinceText.parts(text)
            .flatMap(
                parts ->
                    Versionstamp.parse(parts.position())
                        .map(it -> new StorePosition(it, parts.known())));
  }

  public boolean isBeginning() {
    return at.equals(Versionstamp.ZERO);
  }

  /** Returns another position of the same reader. */
  public StorePosition movedTo(Versionstamp point) {
    return new StorePosition(point, known);
  }

  /**
   * Refuses a position after all commits that the transaction sees.
   *
   * @return this
   * @throws LectusException {@code bad_request}
   */
  public StorePosition checkReached(ReadTransaction tx) {
    SinceText.checkReached(tx, at, known);
    return this;
  }

  @Override
  public String text() {
    return isBeginning() ? "0" : SinceText.head(at, known) + at;
  }

  @Override
  public long commitVersion() {
    return at.version();
  }

  /** CouchDB's {@code _db_updates} does not tell it. */
  @Override
  public boolean tellsPending() {
    return false;
  }

  @Override
  public int compareTo(StorePosition other) {
    return at.compareTo(other.at);
  }

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
}
