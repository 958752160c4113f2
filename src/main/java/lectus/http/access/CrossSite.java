package lectus.http.access;

import io.vertx.core.http.HttpHeaders;
import java.util.Set;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.message.Method;

/**
 * Refuses what browsers let the page of another origin send without asking the server first: forms,
 * and requests that look like forms. Nobody can read the answers, but such a request could write,
 * or log somebody in who does not know. Browsers say where a request comes from in a header that
 * pages cannot set.
 */
final class CrossSite {
  private static final CharSequence SITE = HttpHeaders.createOptimized("Sec-Fetch-Site");
  private static final Set<String> ELSEWHERE = Set.of("cross-site", "same-site");

  private CrossSite() {}

  /**
   * @throws LectusException {@code forbidden} (403)
   */
  static void check(Exchange exchange) {
    String site = exchange.header(SITE);
    if (site != null && ELSEWHERE.contains(site) && mayChange(exchange.method())) {
      String origin = exchange.header(HttpHeaders.ORIGIN);
      if (origin == null || !exchange.loop().allowsOrigin(origin)) {
        throw LectusException.forbidden(
            "Pages of this origin may not use the server (cors.origins).");
      }
    }
  }

  private static boolean mayChange(Method method) {
    return method != Method.GET && method != Method.HEAD && method != Method.OPTIONS;
  }
}
