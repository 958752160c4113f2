package lectus.http.exchange;

import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.export.RetryPolicy;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.net.URI;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import lectus.http.exchange.Tracing.TracingMetrics;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends spans to the collector, counts them, and logs when it stops and begins to take them. */
final class CollectorExporter implements SpanExporter {
  private static final Logger LOG = LoggerFactory.getLogger("lectus.tracing");

  private static final Duration CONNECT = Duration.ofSeconds(2);
  private static final Duration ANSWER = Duration.ofSeconds(5);
  private static final int ATTEMPTS = 3;
  private static final Duration FIRST_PAUSE = Duration.ofMillis(500);

  private final URI endpoint;
  private final TracingMetrics figures;
  private final SpanExporter sender;
  private final AtomicBoolean fails = new AtomicBoolean();

  CollectorExporter(URI endpoint, TracingMetrics figures) {
    this.endpoint = endpoint;
    this.figures = figures;
    this.sender =
        OtlpHttpSpanExporter.builder()
            .setEndpoint(endpoint.toString())
            .setCompression("gzip")
            .setConnectTimeout(CONNECT)
            .setTimeout(ANSWER)
            .setRetryPolicy(
                RetryPolicy.builder()
                    .setMaxAttempts(ATTEMPTS)
                    .setInitialBackoff(FIRST_PAUSE)
                    .build())
            .build();
  }

  @Override
  public CompletableResultCode export(Collection<SpanData> spans) {
    int count = spans.size();
    CompletableResultCode result = sender.export(spans);
    return result.whenComplete(
        () -> {
          figures.done(count, result.isSuccess());
          log(result);
        });
  }

  private void log(CompletableResultCode result) {
    if (result.isSuccess() && fails.compareAndSet(true, false)) {
      LOG.info("The collector at {} takes traces again", endpoint);
    } else if (!result.isSuccess() && fails.compareAndSet(false, true)) {
      LOG.warn(
          "The collector at {} takes no traces, which are dropped: {}",
          endpoint,
          cause(result.getFailureThrowable()));
    }
  }

  private static String cause(Throwable failure) {
    return Optional.ofNullable(failure)
        .map(it -> it.getCause() == null ? it : it.getCause())
        .map(Throwable::toString)
        .orElse("it refuses them");
  }

  @Override
  public CompletableResultCode flush() {
    return sender.flush();
  }

  @Override
  public CompletableResultCode shutdown() {
    return sender.shutdown();
  }
}
