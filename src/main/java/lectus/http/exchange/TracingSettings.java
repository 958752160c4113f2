package lectus.http.exchange;

import java.net.URI;

/**
 * Where traces are sent.
 *
 * @param endpoint the URL that takes OTLP over HTTP
 * @param service the name under which the server appears
 * @param sampleRatio the share of requests that are traced, of those whose client has not decided
 */
public record TracingSettings(URI endpoint, String service, double sampleRatio) {}
