package lectus.audit;

/**
 * Something that is not as every writer leaves it.
 *
 * @param place what it was found in, such as {@code database "w"}
 * @param problem what is wrong there, a sentence without a full stop
 */
public record Finding(String place, String problem) {
  @Override
  public String toString() {
    return place + ": " + problem;
  }
}
