package lectus.audit;

import java.util.Optional;

/**
 * Something that no writer leaves behind.
 *
 * @param place where it was found, such as {@code database "w"}
 * @param problem what is wrong, a sentence without a full stop
 * @param repair what mends it; empty if nothing does
 */
public record Finding(String place, String problem, Optional<Repair> repair) {
  @Override
  public String toString() {
    return place + ": " + problem;
  }
}
