package lectus.jobs;

import java.util.stream.Stream;
import lectus.tuple.MalformedTupleException.NewerFormatException;

/** What a job fills. The numbers are stored, so they never change and are never reused. */
public enum JobKind {
  /** An index of queries. */
  INDEX(1),
  /** A stored feed. */
  FEED(2);

  private final int number;

  JobKind(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }

  static JobKind numbered(int number) {
    return Stream.of(values())
        .filter(it -> it.number == number)
        .findFirst()
        .orElseThrow(
            () ->
                new NewerFormatException(
                    "A job is of the kind " + number + ", of a newer version of Lectus"));
  }
}
