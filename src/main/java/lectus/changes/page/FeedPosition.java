package lectus.changes.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import lectus.changes.filter.FeedFilter;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.error.LectusException;
import lectus.store.Versionstamp;

/**
 * A feed reader's position.
 *
 * @param sequence the last entry examined; empty at the beginning
 * @param entriesLookedAt number of entries examined since the beginning; -1 if it began elsewhere
 * @param known the version as of which the reader knows which stored feeds were removed; 0 if it
 *     knows that as of the sequence
 */
public record FeedPosition(Optional<Sequence> sequence, long entriesLookedAt, long known)
    implements ResumePoint<FeedPosition> {
  public static final FeedPosition BEGINNING = new FeedPosition(Optional.empty(), 0, 0);

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
    return text.equals("0")
        ? Optional.of(BEGINNING)
        : Since.parts(text)
            .flatMap(
                parts ->
                    Sequence.parse(parts.position())
                        .map(it -> new FeedPosition(Optional.of(it), NOT_COUNTED, parts.known())));
  }

  /** Returns another position of the same reader. */
  FeedPosition movedTo(Sequence entry) {
    return new FeedPosition(Optional.of(entry), NOT_COUNTED, known);
  }

  /** Returns the position of a reader that knows which stored feeds were removed by then. */
  FeedPosition knowing(long version) {
    return new FeedPosition(sequence, entriesLookedAt, version);
  }

  /** Whether what the reader has of a stored feed is of one that was removed. */
  boolean isVoid(FeedFilter.OfFeed feed, ReadTransaction tx, DatabaseHandle db) {
    return sequence.filter(it -> feed.isVoid(at(it), known, tx, db)).isPresent();
  }

  static Versionstamp at(Sequence sequence) {
    return new Versionstamp(sequence.versionstamp());
  }

  /**
   * Returns the beginning in place of a sequence that is older than this life of the database: it
   * is of an earlier life of the name, or of another database.
   */
  FeedPosition inLife(DatabaseHandle db) {
    boolean isOlder =
        sequence.isPresent()
            && sequence.get().incarnation() == db.incarnation()
            && at(sequence.get()).compareTo(db.joined()) < 0;
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
      throw Since.future();
    }
    if (incarnation == db.incarnation()) {
      Since.checkReached(tx, at(sequence.get()), known);
    }
  }

  @Override
  public String text() {
    return sequence.map(it -> Since.head(at(it), known) + it).orElse("0");
  }

  @Override
  public long commitVersion() {
    return sequence.map(it -> at(it).version()).orElse(0L);
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
