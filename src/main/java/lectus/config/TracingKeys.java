package lectus.config;

import java.net.URI;
import java.util.Optional;

/** What is told of requests to a collector of traces. */
public final class TracingKeys {
  static final KeySection SECTION = new KeySection("Tracing");

  public static final ConfigurationKey<Optional<URI>> ENDPOINT =
      SECTION.key(
          "tracing.endpoint",
          ValueType.URL,
          "",
          """
          The URL to which traces of requests are sent as OTLP over HTTP, such as
          http://127.0.0.1:4318/v1/traces; without a path /v1/traces is meant. Empty:
          none are made. Traces name databases, but no user and no document.
          """);

  public static final ConfigurationKey<String> SERVICE_NAME =
      SECTION.key(
          "tracing.service-name",
          ValueType.TEXT,
          "lectus",
          "The name under which the server appears in traces.");

  public static final ConfigurationKey<Double> SAMPLE_RATIO =
      SECTION.key(
          "tracing.sample-ratio",
          ValueType.SHARE,
          "1",
          """
          The share of requests that are traced. A client's header traceparent decides
          for its own requests.
          """);

  private TracingKeys() {}
}
