package lectus.audit;

/**
 * Something that no writer leaves behind.
 *
 * @param place where it was found, such as {@code database "w"}
 * @param problem what is wrong, a sentence without a full stop
 */
public record Finding(String place, String problem) {
  @Override
  public String toString() {
    return place + ": " + problem;
  }
}
