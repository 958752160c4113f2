package lectus.derived;

import java.util.List;
import java.util.Optional;
import lectus.json.FieldPath;
import lectus.json.MalformedTupleException.NewerFormatException;

/**
 * What a database keeps beside its documents, with rows that are made of them. Two are equal if
 * they have the same rows, whether all of these are there yet or not.
 */
public abstract sealed class Derived permits StoredIndex, StoredFeed {
  private final long number;
  private final boolean isReadable;

  /** The numbers are stored, so they never change and are never reused. */
  public enum Kind {
    INDEX(1),
    FEED(2);

    private final int number;

    Kind(int number) {
      this.number = number;
    }

    public int number() {
      return number;
    }

    public static Kind numbered(int number) {
      for (Kind kind : values()) {
        if (kind.number == number) {
          return kind;
        }
      }
      throw new NewerFormatException(
          "Rows are derived by the kind " + number + ", of a newer version of Lectus");
    }
  }

  /**
   * @param number tells it from all others, of any kind, that the database has or had
   * @param isReadable whether all documents are in it; before, it is only written
   */
  Derived(long number, boolean isReadable) {
    this.number = number;
    this.isReadable = isReadable;
  }

  public final long number() {
    return number;
  }

  public final boolean isReadable() {
    return isReadable;
  }

  /** Returns the same once all documents are in it. */
  public abstract Derived readable();

  public abstract Definition definition();

  /** Returns which documents are in it; empty if that does not depend on a selector. */
  public abstract Optional<Selector> selector();

  @Override
  public final boolean equals(Object other) {
    return other instanceof Derived it
        && number == it.number
        && definition().equals(it.definition());
  }

  @Override
  public final int hashCode() {
    return Long.hashCode(number);
  }

  /** What makes one, whatever its number and its state. */
  public sealed interface Definition permits IndexDefinition, FeedDefinition {
    Kind kind();

    /** Returns the id of the design document that has it, or a stored feed's name. */
    String definedBy();

    /** Returns its kind and its name for people. */
    String title();

    /** Returns the fields of documents that the rows are made of. */
    List<FieldPath> paths();

    /** Returns approximate memory with all that is compiled, in bytes. */
    long heapBytes();
  }
}
