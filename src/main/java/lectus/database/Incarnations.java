package lectus.database;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lectus.json.StoredFormat;
import lectus.store.Versionstamp;

/**
 * The Incarnations of a database (RFC 003), one for each store in which its changes were written,
 * and for each time it came back. A database that was made here and stayed has one. One that was
 * restored or moved in has those of its history and one more, under which it is written from then
 * on. So whatever is written comes behind the history, whichever versions either store has.
 *
 * @param all oldest first, at least one; the last is the current one
 */
public record Incarnations(List<Incarnation> all) {

  public Incarnations {
    all = List.copyOf(all);
    if (all.isEmpty()) {
      throw new IllegalArgumentException("A database has at least one incarnation");
    }
  }

  /**
   * @param stored a database that was made here and stayed has none
   * @param joined when it came into the catalogue
   */
  static Incarnations of(List<Incarnation> stored, Versionstamp joined) {
    return new Incarnations(
        stored.isEmpty()
            ? List.of(new Incarnation(0, Origin.CREATED, joined, Optional.empty()))
            : stored);
  }

  /** Returns these and one that begins with a transaction that is not committed yet. */
  Incarnations and(int number, Origin origin, Optional<Sequence> last) {
    Versionstamp uncommitted = new Versionstamp(Versionstamp.placeholder(0));
    List<Incarnation> more = new ArrayList<>(all);
    more.add(new Incarnation(number, origin, uncommitted, last));
    return new Incarnations(more);
  }

  public Incarnation current() {
    return all.get(all.size() - 1);
  }

  /** Whether a sequence is of the history that the database came with. */
  public boolean isOfHistory(Sequence sequence) {
    return sequence.incarnation() < current().number();
  }

  /**
   * Returns the place of a change in the commit order of this store. All of its history came in one
   * commit.
   */
  public Versionstamp placeOf(Sequence sequence) {
    return isOfHistory(sequence) ? current().begun() : new Versionstamp(sequence.versionstamp());
  }

  /**
   * Whether a sequence is of no time that the database had: of a life or a copy that is another.
   * That it lies behind all changes does not count.
   */
  public boolean isForeign(Sequence sequence) {
    return all.stream()
        .filter(it -> it.number() == sequence.incarnation())
        .anyMatch(it -> Arrays.compareUnsigned(sequence.versionstamp(), it.begun().bytes()) < 0);
  }

  /** Whether a change of the database may have a sequence: it lies in one of the parts. */
  public boolean has(Sequence sequence) {
    boolean hasBegun =
        all.stream().anyMatch(it -> it.number() == sequence.incarnation()) && !isForeign(sequence);
    return hasBegun
        && all.stream()
            .filter(it -> it.number() > sequence.incarnation())
            .allMatch(it -> it.last().filter(end -> end.compareTo(sequence) >= 0).isPresent());
  }

  /**
   * One part of the order of changes.
   *
   * @param origin how it began
   * @param begun when, in the commit order of the store in which its changes were written
   * @param last the last sequence of the history that it continues; empty if that has no changes
   */
  public record Incarnation(
      int number, Origin origin, Versionstamp begun, Optional<Sequence> last) {}

  /** How an incarnation began. Numbers are stored. */
  public enum Origin {
    CREATED(0),
    /** From an image, or because a deleted database came back. */
    RESTORED(1),
    /** From another store, which has given it up. */
    MOVED(2);

    private final int number;

    Origin(int number) {
      this.number = number;
    }

    int number() {
      return number;
    }

    static Origin numbered(int number) {
      for (Origin origin : values()) {
        if (origin.number == number) {
          return origin;
        }
      }
      throw StoredFormat.newer("The origin of an incarnation", number, values().length - 1);
    }
  }
}
