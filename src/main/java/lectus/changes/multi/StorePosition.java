package lectus.changes.multi;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import lectus.changes.page.ResumePoint;
import lectus.changes.page.Since;
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

  /**
   * Parses where a feed of the whole store, or of many of its databases, begins.
   *
   * @throws LectusException {@code bad_request}
   */
  public static Since<StorePosition> since(String text) {
    return Since.parse(text, StorePosition::parse);
  }

  /** Returns empty for anything that {@link #text} did not print. */
  private static Optional<StorePosition> parse(String text) {
    return text.equals("0")
        ? Optional.of(BEGINNING)
        : Since.parts(text)
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
    Since.checkReached(tx, at, known);
    return this;
  }

  @Override
  public String text() {
    return isBeginning() ? "0" : Since.head(at, known) + at;
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
}
