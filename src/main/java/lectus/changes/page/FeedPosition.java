package lectus.changes.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import lectus.changes.filter.FeedFilter;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;

/**
 * A feed reader's position.
 *
 * @param sequence the last entry examined; empty at the beginning
 * @param entriesLookedAt number of entries examined since the beginning; -1 if it began elsewhere
 * @param known as of where the reader knows which stored feeds were removed; {@link Sequence#ZERO}
 *     if it knows that as of the sequence
 */
public record FeedPosition(Optional<Sequence> sequence, long entriesLookedAt, Sequence known)
    implements ResumePoint<FeedPosition> {
  public static final FeedPosition BEGINNING = new FeedPosition(Optional.empty(), 0, Sequence.ZERO);

  /** Before every entry. */
  private static final Sequence FIRST = Sequence.of(0, new byte[10], 1);

  private static final long NOT_COUNTED = -1;

  public static FeedPosition after(Sequence sequence) {
    return BEGINNING.movedTo(sequence);
  }

  /**
   * Parses where a feed of one database begins.
   *
   * @throws LectusException {@code bad_request}
   */
  public static Since<FeedPosition> since(String text) {
    return Since.parse(text, FeedPosition::parse);
  }

  /** Returns empty for anything that {@link #text} did not print. */
  private static Optional<FeedPosition> parse(String text) {
    if (text.equals("0")) {
      return Optional.of(BEGINNING);
    }
    Since.Parts parts = Since.parts(text);
    Optional<Sequence> known =
        parts.known().isPresent()
            ? Sequence.parse(parts.known().get())
            : Optional.of(Sequence.ZERO);
    return Sequence.parse(parts.position())
        .flatMap(it -> known.map(as -> new FeedPosition(Optional.of(it), NOT_COUNTED, as)));
  }

  /** Returns another position of the same reader. */
  FeedPosition movedTo(Sequence entry) {
    return new FeedPosition(Optional.of(entry), NOT_COUNTED, known);
  }

  /** Returns the position of a reader that knows which stored feeds were removed by then. */
  FeedPosition knowing(Sequence removals) {
    return new FeedPosition(sequence, entriesLookedAt, removals);
  }

  /** Whether what the reader has of a stored feed is of one that was removed. */
  boolean isVoid(FeedFilter.OfFeed feed, ReadTransaction tx, DatabaseHandle db) {
    return sequence.isPresent() && isBehind(Awaiting.await(feed.removedAt(tx, db)));
  }

  /** Whether a removal lies behind all that the reader knows. */
  private boolean isBehind(Sequence removal) {
    return removal.compareTo(sequence.get()) > 0 && removal.compareTo(known) > 0;
  }

  /**
   * Returns the beginning in place of a sequence of no time that the database had: it is of an
   * earlier life of the name, of another copy, or of another database. One of an earlier
   * incarnation, beyond the last that this database was given of it, lies where it came back or
   * arrived.
   */
  public FeedPosition inLife(DatabaseHandle db) {
    return sequence.filter(db.incarnations()::isForeign).isPresent() ? BEGINNING : this;
  }

  /**
   * Refuses a sequence after everything that the transaction can see of the database. A sequence of
   * an earlier Incarnation lies before everything of this one.
   *
   * @throws LectusException {@code bad_request}
   */
  public void checkReached(ReadTransaction tx, DatabaseHandle db) {
    sequence.ifPresent(it -> checkReached(tx, db, it));
    checkReached(tx, db, known);
  }

  private static void checkReached(ReadTransaction tx, DatabaseHandle db, Sequence sequence) {
    if (sequence.incarnation() > db.incarnation()) {
      throw LectusException.badRequest(
          "The sequence in 'since' lies in the future: it is of the Incarnation "
              + sequence.incarnation()
              + ", and the database is in "
              + db.incarnation()
              + ".");
    }
    if (sequence.incarnation() == db.incarnation()) {
      Since.checkReached(tx, new Versionstamp(sequence.versionstamp()));
    }
  }

  @Override
  public String text() {
    return sequence.map(it -> Since.head(it, known) + it).orElse("0");
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
        Optional.of(entry), isCounted() ? entriesLookedAt + lookedAt : NOT_COUNTED, known);
  }

  /** Returns the very next position, whether there is an entry or not. */
  public FeedPosition rightBehind() {
    return after(sequence.map(Sequence::next).orElse(FIRST));
  }

  /** Returns a position at or after {@code first}, before which nothing new can come. */
  FeedPosition atLeast(Optional<Sequence> first) {
    boolean before =
        first.isPresent() && (sequence.isEmpty() || sequence.get().compareTo(first.get()) < 0);
    return before ? new FeedPosition(first, entriesLookedAt, known) : this;
  }
}
