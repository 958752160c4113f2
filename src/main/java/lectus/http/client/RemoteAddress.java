package lectus.http.client;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import lectus.error.LectusException;

/**
 * What is at another server, most often a database, and how to ask for it.
 *
 * @param url without a user, and with a slash at its end
 * @param headers of each request, by their names as written; not the one of a password
 */
public record RemoteAddress(URI url, Map<String, String> headers, Optional<Login> login) {
  public static final int HTTP_PORT = 80;
  public static final int HTTPS_PORT = 443;

  private static final int LAST_PORT = 65_535;
  private static final String AUTHORIZATION = "authorization";

  public RemoteAddress {
    headers = Map.copyOf(headers);
  }

  /** A name and its password. */
  public record Login(String name, String password) {
    /** Returns the value of the header {@code Authorization}. */
    String basic() {
      byte[] both = (name + ':' + password).getBytes(StandardCharsets.UTF_8);
      return "Basic " + Base64.getEncoder().encodeToString(both);
    }

    /** Hides the password. */
    @Override
    public String toString() {
      return name;
    }

    private static Optional<Login> ofUser(String userInfo) {
      int colon = userInfo == null ? -1 : userInfo.indexOf(':');
      return colon < 0
          ? Optional.empty()
          : Optional.of(
              new Login(
                  decoded(userInfo.substring(0, colon)), decoded(userInfo.substring(colon + 1))));
    }

    private static String decoded(String text) {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    private static Optional<Login> ofHeader(String value) {
      String[] parts = value.strip().split(" +", 2);
      if (parts.length < 2 || !parts[0].equalsIgnoreCase("basic")) {
        return Optional.empty();
      }
      try {
        String both = new String(Base64.getDecoder().decode(parts[1]), StandardCharsets.UTF_8);
        int colon = both.indexOf(':');
        return colon < 0
            ? Optional.empty()
            : Optional.of(new Login(both.substring(0, colon), both.substring(colon + 1)));
      } catch (IllegalArgumentException noBase64) {
        return Optional.empty();
      }
    }
  }

  /**
   * Of several passwords CouchDB takes the one given beside the URL, then the one in it, then that
   * of a header.
   *
   * @param beside given beside the URL
   * @throws LectusException {@code bad_request}: not a URL of HTTP
   */
  public static RemoteAddress of(String text, Map<String, String> headers, Optional<Login> beside) {
    try {
      URI given = new URI(text);
      String scheme = given.getScheme() == null ? "" : given.getScheme().toLowerCase(Locale.ROOT);
      boolean isHttp = scheme.equals("http") || scheme.equals("https");
      if (given.getHost() == null || !isHttp || given.getPort() > LAST_PORT) {
        throw invalid();
      }
      Map<String, String> others = new TreeMap<>(headers);
      others.keySet().removeIf(name -> name.equalsIgnoreCase(AUTHORIZATION));
      Optional<Login> ofHeader = Optional.empty();
      for (Map.Entry<String, String> header : headers.entrySet()) {
        if (header.getKey().equalsIgnoreCase(AUTHORIZATION)) {
          ofHeader = Login.ofHeader(header.getValue());
          if (!header.getValue().strip().toLowerCase(Locale.ROOT).startsWith("basic ")) {
            others.put(header.getKey(), header.getValue());
          }
        }
      }
      Optional<Login> ofUser = Login.ofUser(given.getRawUserInfo());
      Optional<Login> ofLast = ofHeader;
      return new RemoteAddress(
          withoutUser(given, text), others, beside.or(() -> ofUser).or(() -> ofLast));
    } catch (URISyntaxException e) {
      throw invalid();
    }
  }

  private static URI withoutUser(URI given, String text) throws URISyntaxException {
    String bare =
        given.getRawUserInfo() == null
            ? text
            : text.replaceFirst(Pattern.quote(given.getRawUserInfo() + '@'), "");
    return new URI(bare.indexOf('?') >= 0 || bare.endsWith("/") ? bare : bare + '/');
  }

  /** Says nothing of the text, which may have a password. */
  private static LectusException invalid() {
    return LectusException.badRequest("endpoint has an invalid url");
  }

  public static int port(URI url) {
    if (url.getPort() >= 0) {
      return url.getPort();
    }
    return url.getScheme().equalsIgnoreCase("https") ? HTTPS_PORT : HTTP_PORT;
  }

  /** Whether both belong to one server, so that one's password may be sent to the other. */
  static boolean isSameOrigin(URI one, URI other) {
    return one.getScheme().equalsIgnoreCase(other.getScheme())
        && one.getHost().equalsIgnoreCase(other.getHost())
        && port(one) == port(other);
  }

  /** Returns the URL, for people. */
  @Override
  public String toString() {
    return url.toString();
  }
}
