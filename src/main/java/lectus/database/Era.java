package lectus.database;

import java.util.Optional;

/** A span of a database's order of changes, from its first sequence to that of the next one. */
public sealed interface Era permits Generation, EmptiedGenerations {
  /** The first sequence of the span; empty for the first one, which begins at 0. */
  Optional<Sequence> since();
}
