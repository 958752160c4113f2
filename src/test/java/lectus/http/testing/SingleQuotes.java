package lectus.http.testing;

/** JSON as it is written in tests: with single quotes, none of which has to be escaped. */
public final class SingleQuotes {
  private SingleQuotes() {}

  public static String json(String singleQuoted) {
    return singleQuoted.replace('\'', '"');
  }
}
