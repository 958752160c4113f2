package lectus.http.exchange;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import lectus.metrics.Counting;
import lectus.metrics.Histogram;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;

/**
 * The requests of all event loops: how many, of which kind, how they were answered, and how long
 * that took. Counting a request looks up a few fields, and allocates nothing once there has been
 * one like it. Thread-safe.
 */
public final class RequestMetrics implements Measured {
  /** Statuses beyond are not HTTP's. */
  private static final int STATUSES = 600;

  private static final String REQUESTS = "lectus_http_requests";
  private static final String SECONDS = "lectus_http_request_seconds";

  private final AtomicReferenceArray<LongAdder> byStatus =
      new AtomicReferenceArray<>(RouteTemplate.count() * STATUSES);
  private final AtomicReferenceArray<Histogram> times =
      new AtomicReferenceArray<>(RouteTemplate.count());
  private final Map<String, LongAdder> byMethod = new ConcurrentHashMap<>();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder running = new LongAdder();
  private volatile Optional<Meters> meters = Optional.empty();

  /** Counts a request whose head has come. */
  public void begun() {
    if (Counting.IS_ON) {
      running.increment();
    }
  }

  /**
   * Counts a request that has been answered.
   *
   * @param method one of the few that resources know
   * @param bodyBytes of the answer
   */
  public void answered(RouteTemplate route, String method, int status, long bodyBytes) {
    if (!Counting.IS_ON) {
      return;
    }
    running.decrement();
    counter(route, status > 0 && status < STATUSES ? status : 0).increment();
    LongAdder ofMethod = byMethod.get(method);
    (ofMethod == null ? method(method) : ofMethod).increment();
    bytes.add(bodyBytes);
  }

  /** Adds the time from a request's head to the end of its answer. */
  public void took(RouteTemplate route, long nanos) {
    Histogram ofRoute = times.get(route.number());
    (ofRoute == null ? spread(route) : ofRoute).add(nanos);
  }

  private LongAdder counter(RouteTemplate route, int status) {
    LongAdder known = byStatus.get(place(route, status));
    return known == null ? newCounter(route, status) : known;
  }

  private static int place(RouteTemplate route, int status) {
    return route.number() * STATUSES + status;
  }

  private synchronized LongAdder newCounter(RouteTemplate route, int status) {
    int place = place(route, status);
    if (byStatus.get(place) == null) {
      LongAdder counter = new LongAdder();
      byStatus.set(place, counter);
      meters.ifPresent(
          it ->
              it.with("route", route.text())
                  .with("status", Integer.toString(status))
                  .count(REQUESTS, "Requests that were answered.", counter::sum));
    }
    return byStatus.get(place);
  }

  private synchronized Histogram spread(RouteTemplate route) {
    if (times.get(route.number()) == null) {
      Histogram spread = Histogram.ofTimes();
      times.set(route.number(), spread);
      meters.ifPresent(
          it ->
              it.with("route", route.text())
                  .spread(SECONDS, "From a request's head to its answer's end.", spread));
    }
    return times.get(route.number());
  }

  private synchronized LongAdder method(String method) {
    return byMethod.computeIfAbsent(
        method,
        absent -> {
          LongAdder counter = new LongAdder();
          meters.ifPresent(
              it ->
                  it.with("method", method)
                      .count("lectus_http_methods", "Requests by method.", counter::sum));
          return counter;
        });
  }

  /** Metrics that do not exist yet are described when they come. */
  @Override
  public synchronized void describe(Meters described) {
    meters = Optional.of(described);
    described.count("lectus_http_body_bytes", "Bytes of answers' bodies.", bytes::sum);
    described.level(
        "lectus_http_running_requests",
        "Requests that are being answered, with feeds, and without sockets.",
        running::sum);
  }

  /** Returns how long requests took, whatever they were. */
  public Histogram.State times() {
    List<Histogram.State> all = new ArrayList<>();
    all.add(Histogram.ofTimes().state());
    for (int route = 0; route < times.length(); route++) {
      Optional.ofNullable(times.get(route)).map(Histogram::state).ifPresent(all::add);
    }
    return all.stream().reduce(Histogram.State::and).orElseThrow();
  }

  /** Returns the number of requests so far by the status of their answers. */
  public Map<Integer, Long> byStatus() {
    Map<Integer, Long> counts = new TreeMap<>();
    for (int place = 0; place < byStatus.length(); place++) {
      LongAdder counter = byStatus.get(place);
      if (counter != null) {
        counts.merge(place % STATUSES, counter.sum(), Long::sum);
      }
    }
    return counts;
  }

  /** Returns the number of requests so far of one method. */
  public long ofMethod(String method) {
    LongAdder counter = byMethod.get(method);
    return counter == null ? 0 : counter.sum();
  }

  /** Returns the number of requests so far of one route, by its template. */
  public long ofRoute(RouteTemplate route) {
    long count = 0;
    for (int status = 0; status < STATUSES; status++) {
      LongAdder counter = byStatus.get(place(route, status));
      count += counter == null ? 0 : counter.sum();
    }
    return count;
  }
}
