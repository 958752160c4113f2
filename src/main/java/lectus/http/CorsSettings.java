package lectus.http;

import java.util.List;

/**
 * The web pages that may use the server, as in CouchDB's section {@code [cors]}.
 *
 * @param origins such as {@code https://app.example}; {@code *} for all; none switches CORS off
 * @param credentials whether browsers may send cookies and passwords along
 * @param maxAgeSeconds how long a browser may remember a preflight's answer
 */
public record CorsSettings(
    List<String> origins,
    boolean credentials,
    List<String> methods,
    List<String> headers,
    int maxAgeSeconds) {
  private static final String ALL = "*";

  public CorsSettings {
    origins = List.copyOf(origins);
    methods = List.copyOf(methods);
    headers = List.copyOf(headers);
  }

  /** Whether pages of every origin may use the server. */
  public boolean allowsAll() {
    return origins.contains(ALL);
  }

  public boolean enabled() {
    return !origins.isEmpty();
  }
}
