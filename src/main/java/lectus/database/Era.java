package lectus.database;

import java.util.Optional;

/** A span of a database's order of changes, from its first sequence to that of the next span. */
public sealed interface Era permits Generation, EmptiedGenerations {
  /** Returns the first sequence of the span; empty for the first span, which begins at 0. */
  Optional<Sequence> since();
}
