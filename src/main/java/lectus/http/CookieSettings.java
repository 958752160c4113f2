package lectus.http;

import java.util.Optional;

/**
 * The cookie that a log-in gives.
 *
 * @param seconds how long it is good without being used
 * @param persistent whether it outlives the browser's window
 * @param domain of the hosts to which browsers send it; empty: this host alone
 * @param sameSite whether browsers send it along with requests of other sites' pages; empty: as the
 *     browser thinks best
 */
public record CookieSettings(
    int seconds, boolean persistent, Optional<String> domain, Optional<String> sameSite) {}
