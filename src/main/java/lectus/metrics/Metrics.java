package lectus.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmHeapPressureMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import lectus.metrics.Meters.Measured;

/** All figures of one server. Thread-safe. */
public final class Metrics implements AutoCloseable {
  private static final long IDLE_SECONDS = 30;

  /** The last line of OpenMetrics. */
  private static final String END = "# EOF\n";

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Map<String, HistogramFamily> spreads = new ConcurrentHashMap<>();

  /** Micrometer itself forgets what nobody else remembers. */
  private final Queue<LongSupplier> counts = new ConcurrentLinkedQueue<>();

  /** The thread lives only while somebody asks. */
  private final ThreadPoolExecutor writer =
      DaemonThreads.pool(1, IDLE_SECONDS, DaemonThreads.named("lectus-metrics"));

  private final JvmMetrics jvm = new JvmMetrics();
  private final Map<ExpositionFormat, AtomicReference<CompletableFuture<String>>> writing =
      new EnumMap<>(ExpositionFormat.class);

  /** Families that are written elsewhere, without an end. */
  private final Queue<Function<ExpositionFormat, String>> others = new ConcurrentLinkedQueue<>();

  public Metrics() {
    for (ExpositionFormat format : ExpositionFormat.values()) {
      writing.put(format, new AtomicReference<>());
    }
    jvm.bindTo(registry);
  }

  /** Shows the figures of another part from now on. */
  public void add(Measured part) {
    part.describe(new Labelled(Tags.empty()));
  }

  /**
   * Shows families of others behind these.
   *
   * @param families writes them in a format, without its end
   */
  public void addWritten(Function<ExpositionFormat, String> families) {
    others.add(families);
  }

  /**
   * Writes all figures. Whoever asks meanwhile gets the same text, so many who ask cost no more
   * than one. Never waits.
   */
  public CompletableFuture<String> text(ExpositionFormat format) {
    AtomicReference<CompletableFuture<String>> place = writing.get(format);
    CompletableFuture<String> own = new CompletableFuture<>();
    CompletableFuture<String> running = place.compareAndExchange(null, own);
    if (running != null) {
      return running;
    }
    try {
      writer.execute(() -> write(format, place, own));
    } catch (RuntimeException refused) {
      place.set(null);
      own.completeExceptionally(refused);
    }
    return own;
  }

  private void write(
      ExpositionFormat format,
      AtomicReference<CompletableFuture<String>> place,
      CompletableFuture<String> text) {
    try {
      String written = withOthers(registry.scrape(format.contentType()), format);
      place.set(null);
      text.complete(written);
    } catch (Throwable failure) {
      place.set(null);
      text.completeExceptionally(failure);
    }
  }

  private String withOthers(String own, ExpositionFormat format) {
    String end = own.endsWith(END) ? END : "";
    StringBuilder all = new StringBuilder(own.substring(0, own.length() - end.length()));
    others.forEach(families -> all.append(families.apply(format)));
    return all.append(end).toString();
  }

  @Override
  public void close() {
    writer.shutdown();
    jvm.close();
    registry.close();
  }

  private final class Labelled implements Meters {
    private final Tags labels;

    Labelled(Tags labels) {
      this.labels = labels;
    }

    @Override
    public void count(String name, String meaning, LongSupplier count) {
      counts.add(count);
      FunctionCounter.builder(name, count, LongSupplier::getAsLong)
          .description(meaning)
          .tags(labels)
          .register(registry);
    }

    @Override
    public void level(String name, String meaning, DoubleSupplier level) {
      Gauge.builder(name, level, DoubleSupplier::getAsDouble)
          .description(meaning)
          .tags(labels)
          .strongReference(true)
          .register(registry);
    }

    @Override
    public void spread(String name, String meaning, Histogram spread) {
      spreads
          .computeIfAbsent(
              name,
              absent -> {
                HistogramFamily family = new HistogramFamily(name, meaning);
                registry.getPrometheusRegistry().register(family);
                return family;
              })
          .add(labels, spread);
    }

    @Override
    public Meters with(String label, String value) {
      return new Labelled(labels.and(label, value));
    }
  }

  /** The figures of the process and its JVM, under Micrometer's names. */
  private static final class JvmMetrics implements AutoCloseable {
    private final JvmGcMetrics collector = new JvmGcMetrics();
    private final JvmHeapPressureMetrics pressure = new JvmHeapPressureMetrics();

    void bindTo(MeterRegistry registry) {
      collector.bindTo(registry);
      pressure.bindTo(registry);
      new JvmMemoryMetrics().bindTo(registry);
      new JvmThreadMetrics().bindTo(registry);
      new ProcessorMetrics().bindTo(registry);
      new UptimeMetrics().bindTo(registry);
      new FileDescriptorMetrics().bindTo(registry);
    }

    @Override
    public void close() {
      collector.close();
      pressure.close();
    }
  }

  /** The spreads of one name, each with other labels, as a Prometheus histogram. */
  private static final class HistogramFamily implements Collector {
    private final String name;
    private final String meaning;
    private final Map<Labels, Histogram> spreads = new ConcurrentSkipListMap<>();

    HistogramFamily(String name, String meaning) {
      this.name = name;
      this.meaning = meaning;
    }

    void add(Tags tags, Histogram spread) {
      spreads.put(labels(tags), spread);
    }

    private static Labels labels(Tags tags) {
      Labels labels = Labels.EMPTY;
      for (Tag tag : tags) {
        labels = labels.add(tag.getKey(), tag.getValue());
      }
      return labels;
    }

    @Override
    public MetricSnapshot collect() {
      HistogramSnapshot.Builder all = HistogramSnapshot.builder().name(name).help(meaning);
      spreads.forEach((labels, spread) -> all.dataPoint(point(labels, spread.state())));
      return all.build();
    }

    private static HistogramDataPointSnapshot point(Labels labels, Histogram.State state) {
      return HistogramDataPointSnapshot.builder()
          .labels(labels)
          .classicHistogramBuckets(ClassicHistogramBuckets.of(state.bounds(), state.counts()))
          .sum(state.sum())
          .build();
    }
  }

  /** A form in which figures are written. */
  public enum ExpositionFormat {
    /** Prometheus' own, for whoever does not ask for another. */
    TEXT("text/plain; version=0.0.4; charset=utf-8"),

    OPEN_METRICS("application/openmetrics-text; version=1.0.0; charset=utf-8");

    /** In any version, unless with a q of 0. */
    private static final Pattern WANTED =
        Pattern.compile("application/openmetrics-text(?!.*;q=0(\\.0*)?(;|$))(;.*)?");

    private final String contentType;

    ExpositionFormat(String contentType) {
      this.contentType = contentType;
    }

    public String contentType() {
      return contentType;
    }

    /**
     * Returns OpenMetrics if it is among the types that are accepted.
     *
     * @param accept the header's value; empty without one
     */
    public static ExpositionFormat of(String accept) {
      boolean isWanted =
          Arrays.stream(accept.toLowerCase(Locale.ROOT).split(","))
              .map(range -> range.replace(" ", ""))
              .anyMatch(range -> WANTED.matcher(range).matches());
      return isWanted ? OPEN_METRICS : TEXT;
    }
  }
}
