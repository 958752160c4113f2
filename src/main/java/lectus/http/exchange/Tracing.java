package lectus.http.exchange;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;

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
  public Tracing(TracingSettings settings, String version, TracingMetrics figures) {
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

  /** The span of the client for which a request is sent, as W3C's Trace Context has it. */
  private static final class RemoteParent {
    /** Later versions may have more after the part that the first one has. */
    private static final int LONGEST = 128;

    private static final Pattern FORM =
        Pattern.compile("([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?");

    private static final String FIRST_VERSION = "00";
    private static final String NO_VERSION = "ff";

    private RemoteParent() {}

    /** Returns the root for headers that are absent, malformed or several. */
    static Context of(List<String> headers) {
      if (headers.size() != 1 || headers.get(0).length() > LONGEST) {
        return Context.root();
      }
      Matcher parts = FORM.matcher(headers.get(0));
      return parts.matches() && isKnown(parts.group(1), parts.group(5))
          ? of(parts.group(2), parts.group(3), parts.group(4))
          : Context.root();
    }

    private static boolean isKnown(String version, String more) {
      return !version.equals(NO_VERSION) && (more == null || !version.equals(FIRST_VERSION));
    }

    /** Ids of nothing but zeros are none. */
    private static Context of(String trace, String span, String flags) {
      SpanContext parent =
          SpanContext.createFromRemoteParent(
              trace, span, TraceFlags.fromHex(flags, 0), TraceState.getDefault());
      return parent.isValid() ? Context.root().with(Span.wrap(parent)) : Context.root();
    }
  }

  /**
   * The spans that wait to be sent. They are bounded together with those that are being sent, so
   * that a collector that never answers costs no more memory.
   */
  static final class WaitingSpans implements SpanProcessor {
    /** They take some four megabytes. */
    static final int MOST = 4_096;

    private static final int BATCH = 512;
    private static final Duration DELAY = Duration.ofSeconds(1);

    private final TracingMetrics figures;
    private final SpanProcessor batches;

    WaitingSpans(SpanExporter exporter, TracingMetrics figures) {
      this.figures = figures;
      this.batches =
          BatchSpanProcessor.builder(exporter)
              .setMaxQueueSize(MOST)
              .setMaxExportBatchSize(BATCH)
              .setScheduleDelay(DELAY)
              .build();
    }

    @Override
    public void onStart(Context parent, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
      return false;
    }

    /** Never waits. */
    @Override
    public void onEnd(ReadableSpan span) {
      if (span.getSpanContext().isSampled() && figures.admits(MOST)) {
        batches.onEnd(span);
      }
    }

    @Override
    public boolean isEndRequired() {
      return true;
    }

    @Override
    public CompletableResultCode forceFlush() {
      return batches.forceFlush();
    }

    @Override
    public CompletableResultCode shutdown() {
      return batches.shutdown();
    }
  }

  /**
   * Where traces are sent.
   *
   * @param endpoint the URL that takes OTLP over HTTP
   * @param service the name under which the server appears
   * @param sampleRatio the share of requests that are traced, of those whose client has not decided
   */
  public record TracingSettings(URI endpoint, String service, double sampleRatio) {}

  /** What became of the spans of one server; nothing while tracing is off. Thread-safe. */
  public static final class TracingMetrics implements Measured {
    private final AtomicInteger waiting = new AtomicInteger();
    private final LongAdder sent = new LongAdder();
    private final LongAdder tooMany = new LongAdder();
    private final LongAdder unsent = new LongAdder();

    /**
     * Counts a span that is to be sent, unless too many wait already: then it is dropped.
     *
     * @param most may wait, those included that are being sent
     * @return whether it may wait
     */
    boolean admits(int most) {
      if (waiting.incrementAndGet() <= most) {
        return true;
      }
      waiting.decrementAndGet();
      tooMany.increment();
      return false;
    }

    /** Counts spans that the collector has taken, or has not. */
    void done(int spans, boolean isTaken) {
      waiting.addAndGet(-spans);
      (isTaken ? sent : unsent).add(spans);
    }

    @Override
    public void describe(Meters meters) {
      meters.count("lectus_tracing_spans_sent", "Spans that the collector took.", sent::sum);
      meters.level(
          "lectus_tracing_spans_waiting", "Spans that wait to be sent, or are sent.", waiting::get);
      dropped(meters, "queue", tooMany);
      dropped(meters, "collector", unsent);
    }

    private static void dropped(Meters meters, String reason, LongAdder count) {
      meters
          .with("reason", reason)
          .count(
              "lectus_tracing_spans_dropped",
              "Spans that were not sent, for too many waited or the collector took none.",
              count::sum);
    }
  }
}
