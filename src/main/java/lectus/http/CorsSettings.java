package lectus.http;

import java.util.List;
import java.util.Locale;

/**
 * The web pages that may use the server, as in CouchDB's section {@code [cors]}.
 *
 * @param enabled whether pages of other origins may use it at all
 * @param origins such as {@code https://app.example}; {@code *} for all
 * @param credentials whether browsers may send cookies and passwords along
 * @param headers in lower case
 * @param maxAgeSeconds how long a browser may remember a preflight's answer
 */
public record CorsSettings(
    boolean enabled,
    List<String> origins,
    boolean credentials,
    List<String> methods,
    List<String> headers,
    int maxAgeSeconds) {
  /** As an origin, a method or a header: each of them. */
  public static final String ALL = "*";

  public CorsSettings {
    origins = List.copyOf(origins);
    methods = List.copyOf(methods);
    headers = headers.stream().map(header -> header.toLowerCase(Locale.ROOT)).toList();
  }

  /** Whether pages of this origin may use the server. */
  public boolean allows(String origin) {
    return enabled && allows(origins, origin);
  }

  public boolean allowsMethod(String method) {
    return allows(methods, method);
  }

  public boolean allowsHeader(String name) {
    return allows(headers, name.toLowerCase(Locale.ROOT));
  }

  private static boolean allows(List<String> allowed, String one) {
    return allowed.contains(ALL) || allowed.contains(one);
  }
}
