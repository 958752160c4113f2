package lectus.http.trace;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Duration;

/**
 * The spans that wait to be sent. They are bounded together with those that are being sent, so that
 * a collector that never answers costs no more memory.
 */
final class WaitingSpans implements SpanProcessor {
  /** They take some four megabytes. */
  static final int MOST = 4_096;

  private static final int BATCH = 512;
  private static final Duration DELAY = Duration.ofSeconds(1);

  private final TracingFigures figures;
  private final SpanProcessor batches;

  WaitingSpans(SpanExporter exporter, TracingFigures figures) {
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
