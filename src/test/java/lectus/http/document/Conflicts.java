package lectus.http.document;

/** The refusal of a write whose base is not the live revision. */
final class Conflicts {
  static final String CONFLICT =
      "{\"error\":\"conflict\",\"reason\":\"Document update conflict.\"}\n";

  private Conflicts() {}
}
