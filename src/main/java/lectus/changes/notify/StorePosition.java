package lectus.changes.notify;

import com.apple.foundationdb.ReadTransaction;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Optional;
import lectus.changes.page.ResumePoint;
import lectus.changes.page.Since;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.Sequence;
import lectus.error.LectusException;
import lectus.store.Versionstamp;

/**
 * The position of a reader of many databases, or of the updates log: a point in the store's commit
 * order. It is not a database's {@code Sequence}: databases may have different incarnations, and a
 * position derived from one would skip changes of another. It never expires.
 *
 * <p>The history of a database that was restored or moved in is older than this store, or of
 * another one. It comes at the point where the database appeared, in its own order.
 *
 * @param within how far the reader is in the history that came at the point; empty behind it
 * @param known the point as of which the reader knows which stored feeds were removed; ZERO if it
 *     knows that as of the position
 */
public record StorePosition(Versionstamp at, Optional<InHistory> within, Versionstamp known)
    implements ResumePoint<StorePosition> {
  public static final StorePosition BEGINNING = new StorePosition(Versionstamp.ZERO);

  /** Between the parts of a position in a history. */
  private static final char SEPARATOR = '.';

  /** Of positions at one point. */
  private static final Comparator<StorePosition> IN_HISTORY =
      Comparator.comparing((StorePosition it) -> it.within().isEmpty())
          .thenComparing(it -> it.within().map(in -> in.name().text()).orElse(""))
          .thenComparing(it -> it.within().map(InHistory::sequence).orElse(Sequence.ZERO));

  public StorePosition(Versionstamp at) {
    this(at, Versionstamp.ZERO);
  }

  StorePosition(Versionstamp at, Versionstamp known) {
    this(at, Optional.empty(), known);
  }

  /**
   * A place in the history of a database.
   *
   * @param sequence of the last change that was looked at
   */
  record InHistory(DatabaseName name, Sequence sequence) {
    /** Returns empty for anything that {@link #text} did not print. */
    private static Optional<InHistory> parse(String name, String sequence) {
      try {
        byte[] ascii = HexFormat.of().parseHex(name);
        DatabaseName database = DatabaseName.of(new String(ascii, StandardCharsets.US_ASCII));
        return Sequence.parse(sequence).map(it -> new InHistory(database, it));
      } catch (IllegalArgumentException | LectusException notPrinted) {
        return Optional.empty();
      }
    }

    /** A name may have characters that URLs change. */
    private String text() {
      byte[] ascii = name.text().getBytes(StandardCharsets.US_ASCII);
      return SEPARATOR + HexFormat.of().formatHex(ascii) + SEPARATOR + sequence;
    }
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
    if (text.equals("0")) {
      return Optional.of(BEGINNING);
    }
    Since.Parts parts = Since.parts(text);
    Optional<Versionstamp> known =
        parts.known().isPresent()
            ? Versionstamp.parse(parts.known().get())
            : Optional.of(Versionstamp.ZERO);
    return known.flatMap(it -> parse(parts.position(), it));
  }

  private static Optional<StorePosition> parse(String position, Versionstamp known) {
    int split = position.indexOf(SEPARATOR);
    int end = position.indexOf(SEPARATOR, split + 1);
    if (split < 0 || end < 0) {
      return Versionstamp.parse(position).map(it -> new StorePosition(it, known));
    }
    Optional<InHistory> within =
        InHistory.parse(position.substring(split + 1, end), position.substring(end + 1));
    return within.isEmpty()
        ? Optional.empty()
        : Versionstamp.parse(position.substring(0, split))
            .map(it -> new StorePosition(it, within, known));
  }

  public boolean isBeginning() {
    return at.equals(Versionstamp.ZERO);
  }

  /** Returns another position of the same reader. */
  public StorePosition movedTo(Versionstamp point) {
    return new StorePosition(point, known);
  }

  /** Returns the position of the same reader right behind a change of a database. */
  StorePosition movedTo(DatabaseHandle db, Sequence change) {
    Optional<InHistory> in =
        db.incarnations().isOfHistory(change)
            ? Optional.of(new InHistory(db.name(), change))
            : Optional.empty();
    return new StorePosition(db.incarnations().placeOf(change), in, known);
  }

  /**
   * Returns after which sequence of a database with a history a reader goes on that has come here;
   * empty: from the first.
   */
  Optional<Sequence> sequenceIn(DatabaseHandle db) {
    StorePosition arrival = movedTo(db.incarnations().current().begun());
    if (compareTo(arrival) >= 0) {
      return Optional.of(new Sequence(db.incarnation(), at.bytes()));
    }
    return within
        .filter(it -> at.equals(arrival.at()) && it.name().equals(db.name()))
        .map(InHistory::sequence);
  }

  /** Whether a removal of stored feeds lies behind all that the reader knows. */
  boolean isBefore(Versionstamp removal) {
    return removal.compareTo(at) > 0 && removal.compareTo(known) > 0;
  }

  /** Returns the first point at which something may be that the reader does not have. */
  Versionstamp next() {
    return within.isPresent() ? at : at.successor();
  }

  /**
   * Refuses a position after all commits that the transaction sees.
   *
   * @return this
   * @throws LectusException {@code bad_request}
   */
  public StorePosition checkReached(ReadTransaction tx) {
    Since.checkReached(tx, at);
    Since.checkReached(tx, known);
    return this;
  }

  @Override
  public String text() {
    return isBeginning()
        ? "0"
        : Since.head(at, known) + at + within.map(InHistory::text).orElse("");
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
    int order = at.compareTo(other.at);
    return order != 0 || (within.isEmpty() && other.within.isEmpty())
        ? order
        : IN_HISTORY.compare(this, other);
  }
}
