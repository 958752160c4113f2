package lectus.http.exchange;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import lectus.metrics.Stage;
import lectus.metrics.StageTimes;
import lectus.metrics.StageTimes.Wait;

/** The spans of one request: its own, and one for each thing that it waited for. */
public final class RequestTrace {
  private static final AttributeKey<String> METHOD = AttributeKey.stringKey("http.request.method");
  private static final AttributeKey<Long> STATUS =
      AttributeKey.longKey("http.response.status_code");
  private static final AttributeKey<String> ROUTE = AttributeKey.stringKey("http.route");
  private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");
  private static final AttributeKey<String> DATABASE = AttributeKey.stringKey("db.namespace");
  private static final AttributeKey<String> REQUEST = AttributeKey.stringKey("lectus.request_id");
  private static final AttributeKey<Long> MORE = AttributeKey.longKey("lectus.more_waits");

  private static final int SERVER_ERRORS = 500;

  private final Tracer tracer;
  private final Span span;
  private final StageTimes times = StageTimes.keepingWaits();
  private final long beganNanos = System.nanoTime();
  private final long beganEpochNanos = Clock.getDefault().now();

  RequestTrace(Tracer tracer, Span span) {
    this.tracer = tracer;
    this.span = span;
  }

  /** Returns who is told what the request waits for. */
  public StageTimes times() {
    return times;
  }

  /** The client has the whole answer. The request's own span comes first: others may be dropped. */
  public void end(AnsweredRequest request) {
    List<Wait> waits = times.waits();
    describe(request);
    long more = times.count() - waits.size();
    if (more > 0) {
      span.setAttribute(MORE, more);
    }
    span.end(epoch(System.nanoTime()), TimeUnit.NANOSECONDS);
    Context own = Context.root().with(span);
    List<Wait> transactions = of(waits, true);
    List<Span> spans = transactions.stream().map(it -> send(it, own)).toList();
    for (Wait part : of(waits, false)) {
      send(part, part.stage().isPartOfTransaction() ? around(part, transactions, spans, own) : own);
    }
  }

  private void describe(AnsweredRequest request) {
    span.updateName(request.name());
    span.setAttribute(METHOD, request.method().orElse("_OTHER"));
    span.setAttribute(STATUS, (long) request.status());
    span.setAttribute(REQUEST, request.id());
    request.route().ifPresent(route -> span.setAttribute(ROUTE, route));
    request.database().ifPresent(name -> span.setAttribute(DATABASE, name));
    if (request.status() >= SERVER_ERRORS) {
      span.setStatus(StatusCode.ERROR);
      span.setAttribute(ERROR, Integer.toString(request.status()));
    }
  }

  private static List<Wait> of(List<Wait> waits, boolean areTransactions) {
    List<Wait> found = new ArrayList<>(waits);
    found.removeIf(wait -> (wait.stage() == Stage.TRANSACTION) != areTransactions);
    return found;
  }

  /** Returns the parent of a part: its transaction, or the request if that was not kept. */
  private static Context around(Wait part, List<Wait> whole, List<Span> spans, Context own) {
    for (int i = 0; i < whole.size(); i++) {
      if (whole.get(i).contains(part)) {
        return own.with(spans.get(i));
      }
    }
    return own;
  }

  private Span send(Wait wait, Context parent) {
    Span child =
        tracer
            .spanBuilder(wait.stage().text())
            .setParent(parent)
            .setStartTimestamp(epoch(wait.fromNanos()), TimeUnit.NANOSECONDS)
            .startSpan();
    child.end(epoch(wait.toNanos()), TimeUnit.NANOSECONDS);
    return child;
  }

  private long epoch(long nanos) {
    return beganEpochNanos + nanos - beganNanos;
  }

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
}
