package lectus.feed.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.error.LectusException;
import lectus.feed.ResumePoint;
import lectus.feed.SinceText;
import lectus.store.Versionstamp;

/**
 * A feed reader's position.
 *
 * @param sequence the last entry examined; empty at the beginning
 * @param entriesLookedAt number of entries examined since the beginning; -1 if it began elsewhere
 */
public record FeedPosition(Optional<Sequence> sequence, long entriesLookedAt)
    implements ResumePoint<FeedPosition> {
  public static final FeedPosition BEGINNING = new FeedPosition(Optional.empty(), 0);

  /** Before every entry. */
  private static final Sequence FIRST = Sequence.of(0, new byte[10], 1);

  private static final long NOT_COUNTED = -1;

  public static FeedPosition after(Sequence sequence) {
    return new FeedPosition(Optional.of(sequence), NOT_COUNTED);
  }

  /**
   * Returns the beginning in place of a sequence that is older than this life of the database: it
   * is of an earlier life of the name, or of another database.
   */
  FeedPosition inLife(DatabaseHandle db) {
    boolean isOlder =
        sequence.isPresent()
            && sequence.get().incarnation() == db.incarnation()
            && new Versionstamp(sequence.get().versionstamp()).compareTo(db.joined()) < 0;
    return isOlder ? BEGINNING : this;
  }

  /**
   * Refuses a sequence after everything that the transaction can see of the database. A sequence of
   * an earlier Incarnation lies before everything of this one.
   *
   * @throws LectusException {@code bad_request}
   */
  public void checkReached(ReadTransaction tx, DatabaseHandle db) {
    int incarnation = sequence.map(Sequence::incarnation).orElse(-1);
    if (incarnation > db.incarnation()) {
      throw SinceText.future();
    }
    if (incarnation == db.incarnation()) {
      SinceText.checkReached(tx, new Versionstamp(sequence.get().versionstamp()));
    }
  }

  @Override
  public String text() {
    return sequence.map(Sequence::toString).orElse("0");
  }

  @Override
  public long commitVersion() {
    return sequence.map(it -> new Versionstamp(it.versionstamp()).version()).orElse(0L);
  }

  /** Compares by sequence alone. */
  @Override
  public int compareTo(FeedPosition other) {
    if (sequence.isEmpty() || other.sequence.isEmpty()) {
      return Boolean.compare(sequence.isPresent(), other.sequence.isPresent());
    }
    return sequence.get().compareTo(other.sequence.get());
  }

  boolean isCounted() {
    return entriesLookedAt != NOT_COUNTED;
  }

  FeedPosition behind(Sequence entry, int lookedAt) {
    return new FeedPosition(
        Optional.of(entry), isCounted() ? entriesLookedAt + lookedAt : NOT_COUNTED);
  }

  /** Returns the very next position, whether there is an entry or not. */
  public FeedPosition rightBehind() {
    return after(sequence.map(Sequence::next).orElse(FIRST));
  }

  /** Returns a position at or after {@code first}, before which nothing new can come. */
  FeedPosition atLeast(Optional<Sequence> first) {
    boolean before =
        first.isPresent() && (sequence.isEmpty() || sequence.get().compareTo(first.get()) < 0);
    return before ? new FeedPosition(first, entriesLookedAt) : this;
  }
}
