package lectus.feed.updates;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import lectus.error.LectusException;
import lectus.feed.ResumePoint;
import lectus.feed.SinceText;
import lectus.store.Versionstamp;

/**
 * The position of a reader of many databases, or of the updates log: a point in the store's commit
 * order. It is not a database's {@code Sequence}: databases may have different incarnations, and a
 * position derived from one would skip changes of another. It never expires.
 */
public record StorePosition(Versionstamp at) implements ResumePoint<StorePosition> {
  public static final StorePosition BEGINNING = new StorePosition(Versionstamp.ZERO);

  /** Returns empty for anything that is not {@code 0} or 24 lower-case hex digits. */
  public static Optional<StorePosition> parse(String text) {
    return text.equals("0")
        ? Optional.of(BEGINNING)
        : Versionstamp.parse(text).map(StorePosition::new);
  }

  /**
   * Refuses a position after all commits that the transaction sees.
   *
   * @return this
   * @throws LectusException {@code bad_request}
   */
  public StorePosition checkReached(ReadTransaction tx) {
    SinceText.checkReached(tx, at);
    return this;
  }

  @Override
  public String text() {
    return at.equals(Versionstamp.ZERO) ? "0" : at.toString();
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
