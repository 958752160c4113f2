package lectus.config;

import java.util.List;

/** Which web pages may use the server, as CouchDB's section {@code [cors]} has it. */
public final class CorsKeys {
  static final KeySection SECTION = new KeySection("Which web pages may use it (CORS)");

  /** The value of {@link #CORS_ENABLED} with which that depends on the origins. */
  static final String WITH_ORIGINS = "with-origins";

  /** The value of {@link #CORS_CREDENTIALS} with which that depends on the origins. */
  static final String NAMED_ORIGINS = "named-origins";

  public static final ConfigurationKey<String> CORS_ENABLED =
      SECTION.key(
          "cors.enabled",
          ValueType.oneOf(List.of("true", "false", WITH_ORIGINS)),
          WITH_ORIGINS,
          """
          Whether pages of other origins may use it at all. with-origins: if cors.origins
          names any.
          """);

  public static final ConfigurationKey<List<String>> CORS_ORIGINS =
      SECTION.key(
          "cors.origins",
          ValueType.ORIGINS,
          "",
          """
          Origins such as https://app.example, with commas between them; * for all; null for
          pages without an origin, such as files, which every page can open within itself.
          """);

  public static final ConfigurationKey<String> CORS_CREDENTIALS =
      SECTION.key(
          "cors.credentials",
          ValueType.oneOf(List.of("true", "false", NAMED_ORIGINS)),
          NAMED_ORIGINS,
          """
          Whether browsers may send cookies and passwords along, which PouchDB always does.
          named-origins: if cors.origins has neither * nor null. true cannot be combined with
          these.
          """);

  public static final ConfigurationKey<List<String>> CORS_METHODS =
      SECTION.key(
          "cors.methods",
          ValueType.METHODS,
          "GET, PUT, POST, HEAD, DELETE, COPY",
          "Methods that pages may use; * for all.");

  public static final ConfigurationKey<List<String>> CORS_HEADERS =
      SECTION.key(
          "cors.headers",
          ValueType.HEADERS,
          "accept, accept-language, authorization, cache-control, content-length,"
              + " content-range, content-type, destination, expires, if-match,"
              + " if-none-match, if-range, last-event-id, last-modified, origin, pragma,"
              + " range, referer, x-couch-full-commit, x-couch-id, x-couch-persist,"
              + " x-couch-request-id, x-couchdb-www-authenticate, x-csrf-token,"
              + " x-http-method-override, x-requested-with",
          "Header fields that pages may use; * for all.");

  public static final ConfigurationKey<Integer> CORS_MAX_AGE =
      SECTION.number(
          "cors.max-age",
          600,
          0,
          86_400,
          "How long a browser may remember these answers, in seconds.");

  private CorsKeys() {}
}
