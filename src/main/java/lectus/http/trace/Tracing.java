package lectus.http.trace;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Traces of requests, sent to a collector. Thread-safe. */
public final class Tracing implements AutoCloseable {
  /** The longest text that a span has, in characters. A client chooses the names of databases. */
  private static final int LONGEST_TEXT = 256;

  private static final long FLUSH_SECONDS = 3;

  /** What it says goes past the server's log, which says the same once. */
  private static final Logger OPEN_TELEMETRY = Logger.getLogger("io.opentelemetry");

  private final SdkTracerProvider provider;
  private final Tracer tracer;

  /**
   * @param version of the server
   */
  public Tracing(TracingSettings settings, String version, TracingFigures figures) {
    OPEN_TELEMETRY.setLevel(Level.OFF);
    this.provider =
        SdkTracerProvider.builder()
            .setResource(resource(settings.service(), version))
            .setSampler(Sampler.parentBased(Sampler.traceIdRatioBased(settings.sampleRatio())))
            .setSpanLimits(SpanLimits.builder().setMaxAttributeValueLength(LONGEST_TEXT).build())
            .addSpanProcessor(
                new WaitingSpans(new CollectorExporter(settings.endpoint(), figures), figures))
            .build();
    this.tracer = provider.get("lectus", version);
  }

  private static Resource resource(String service, String version) {
    return Resource.getDefault().toBuilder()
        .put(AttributeKey.stringKey("service.name"), service)
        .put(AttributeKey.stringKey("service.version"), version)
        .put(AttributeKey.stringKey("service.instance.id"), UUID.randomUUID().toString())
        .build();
  }

  /**
   * Begins the trace of a request that begins now; empty if this one is not traced.
   *
   * @param parents the values of its headers {@code traceparent}
   */
  public Optional<RequestTrace> begin(List<String> parents) {
    Context parent = RemoteParent.of(parents);
    Span span =
        tracer.spanBuilder("HTTP").setSpanKind(SpanKind.SERVER).setParent(parent).startSpan();
    return span.isRecording() ? Optional.of(new RequestTrace(tracer, span)) : Optional.empty();
  }

  /** Sends what still waits, if the collector is there to take it. */
  @Override
  public void close() {
    provider.shutdown().join(FLUSH_SECONDS, TimeUnit.SECONDS);
  }
}
