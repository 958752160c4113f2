package lectus.http.exchange;

import java.util.Optional;

/**
 * What a trace says of a request.
 *
 * @param method empty for one that no resource knows
 * @param route its template, without names; empty if there is none
 */
public record AnsweredRequest(
    Optional<String> method,
    Optional<String> route,
    Optional<String> database,
    String id,
    int status) {
  /** Returns the name of the request's span. */
  String name() {
    String verb = method.orElse("HTTP");
    return route.map(it -> verb + " " + it).orElse(verb);
  }
}
