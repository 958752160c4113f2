package lectus.metrics;

import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import lectus.measure.Spread;

/** The spreads of one name, each with other labels, as a Prometheus histogram. */
final class SpreadFamily implements Collector {
  private final String name;
  private final String meaning;
  private final Map<Labels, Spread> spreads = new ConcurrentSkipListMap<>();

  SpreadFamily(String name, String meaning) {
    this.name = name;
    this.meaning = meaning;
  }

  void add(Tags tags, Spread spread) {
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

  private static HistogramDataPointSnapshot point(Labels labels, Spread.State state) {
    return HistogramDataPointSnapshot.builder()
        .labels(labels)
        .classicHistogramBuckets(ClassicHistogramBuckets.of(state.bounds(), state.counts()))
        .sum(state.sum())
        .build();
  }
}
