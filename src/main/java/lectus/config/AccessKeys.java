package lectus.config;

import java.util.List;

/** Who has to log in, how, and what one user may ask for. */
public final class AccessKeys {
  static final KeySection SECTION = new KeySection("Users and rights");

  public static final ConfigurationKey<Boolean> REQUIRE_VALID_USER =
      SECTION.flag(
          "access.require-valid-user",
          false,
          """
          Whether everything needs a log-in, even asking whether the server is up (/_up).
          Browsers ask for a password then.
          """);

  public static final ConfigurationKey<Boolean> REQUIRE_VALID_USER_EXCEPT_FOR_UP =
      SECTION.flag(
          "access.require-valid-user-except-for-up",
          false,
          "The same, but /_up needs no log-in: load balancers have no password.");

  public static final ConfigurationKey<String> CHALLENGE =
      SECTION.key(
          "access.www-authenticate",
          ValueType.CHALLENGE,
          "",
          """
          The WWW-Authenticate of a 401, such as Basic realm="server", with which browsers
          ask for a password. Empty: only where everything needs a log-in, and for
          clients that wish for one.
          """);

  public static final ConfigurationKey<String> AUTHENTICATION_REDIRECT =
      SECTION.key(
          "access.authentication-redirect",
          ValueType.PAGE,
          "",
          """
          The path of a page on which one logs in. A client that accepts text/html and no
          JSON is sent there in place of a 401. Empty: there is none.
          """);

  public static final ConfigurationKey<Boolean> ADMIN_ONLY_ALL_DBS =
      SECTION.flag(
          "access.admin-only-all-dbs",
          true,
          """
          Whether the lists of all databases (/_all_dbs, /_dbs_info) are for server admins.
          Otherwise everybody sees those that they may read.
          """);

  public static final ConfigurationKey<String> DEFAULT_SECURITY =
      SECTION.key(
          "access.default-security",
          ValueType.oneOf(List.of("admin-only", "everyone")),
          "admin-only",
          """
          Who may use a database whose _security was never set: server admins, or
          everybody.
          """);

  public static final ConfigurationKey<Integer> COOKIE_SECONDS =
      SECTION.number(
          "access.cookie-seconds",
          600,
          1,
          31_536_000,
          "How long a log-in with a cookie is good without being used, in seconds.");

  public static final ConfigurationKey<Boolean> PERSISTENT_COOKIES =
      SECTION.flag(
          "access.persistent-cookies", true, "Whether the cookie outlives the browser's window.");

  public static final ConfigurationKey<String> COOKIE_DOMAIN =
      SECTION.key(
          "access.cookie-domain",
          ValueType.DOMAIN,
          "",
          "The domain to whose hosts browsers send the cookie. Empty: this host alone.");

  public static final ConfigurationKey<String> COOKIE_SAME_SITE =
      SECTION.key(
          "access.cookie-same-site",
          ValueType.oneOf(List.of("lax", "strict", "none", "unset")),
          "lax",
          """
          Whether browsers send the cookie along with requests from pages of other sites:
          with links alone, never, always (over TLS), or as each browser thinks best.
          """);

  public static final ConfigurationKey<Boolean> PROXY_AUTH =
      SECTION.flag(
          "access.proxy-auth",
          false,
          """
          Whether a proxy may say who a request is from, in the headers
          X-Auth-CouchDB-UserName, -Roles and -Token. The token is the HMAC of the name,
          in hex digits, by SHA-256 with access.proxy-secret.
          """);

  public static final ConfigurationKey<String> PROXY_SECRET =
      SECTION.key(
          "access.proxy-secret",
          ValueType.SECRET,
          "",
          """
          The secret that this server and such a proxy share. Best given in the
          environment, or in a file that LECTUS_ACCESS_PROXY_SECRET_FILE names.
          """);

  public static final ConfigurationKey<String> JWT_KEYS =
      SECTION.key(
          "access.jwt-keys",
          ValueType.TEXT,
          "",
          """
          A file with the keys of JSON web tokens (Authorization: Bearer): a JWK set, or
          lines as in CouchDB's section [jwt_keys]. It is read again when it changes.
          Empty: no token is taken.
          """);

  public static final ConfigurationKey<String> JWT_ROLES_CLAIM =
      SECTION.key(
          "access.jwt-roles-claim",
          ValueType.TEXT,
          "_couchdb.roles",
          """
          The claim of a token that lists its user's roles: a name, or a path of names
          with dots between them.
          """);

  public static final ConfigurationKey<List<String>> JWT_REQUIRED_CLAIMS =
      SECTION.key(
          "access.jwt-required-claims",
          ValueType.CLAIMS,
          "exp",
          """
          Claims that a token must have, with commas between them, such as
          exp, iss=my-company.
          """);

  public static final ConfigurationKey<Integer> MAX_REQUESTS_PER_SECOND =
      SECTION.number(
          "access.max-requests-per-second",
          0,
          0,
          1_000_000,
          """
          Most requests of one user a second, on one server; further ones are answered
          429. Whoever is not logged in is counted by address. 0: any number.
          """);

  public static final ConfigurationKey<Integer> MAX_USER_CONNECTIONS =
      SECTION.number(
          "access.max-connections",
          0,
          0,
          1_000_000,
          """
          Most connections of one user at a time, on one server; requests on further ones
          are answered 429. 0: any number.
          """);

  public static final ConfigurationKey<Integer> MAX_USER_SUBSCRIPTIONS =
      SECTION.number(
          "access.max-subscriptions",
          0,
          0,
          1_000_000,
          """
          Most subscriptions of one user at a time, over all WebSockets to one server.
          0: any number.
          """);

  private AccessKeys() {}
}
