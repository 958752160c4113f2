package lectus.clients.replicator;

import io.vertx.core.json.JsonObject;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The counters of a replication, across all its sessions. */
final class ReplicationStatistics {
  /** In the order of the history's members. */
  enum Count {
    MISSING_CHECKED,
    MISSING_FOUND,
    DOCS_READ,
    DOCS_WRITTEN,
    DOC_WRITE_FAILURES,
    BULK_GET_DOCS,
    BULK_GET_ATTEMPTS;

    private String member() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Map<Count, Integer> counts = new EnumMap<>(Count.class);

  /** Continues from the newest entry of a history. */
  static ReplicationStatistics after(List<JsonObject> history) {
    ReplicationStatistics statistics = new ReplicationStatistics();
    history.stream()
        .limit(1)
        .forEach(
            newest ->
                Arrays.stream(Count.values())
                    .forEach(count -> statistics.add(count, newest.getInteger(count.member(), 0))));
    return statistics;
  }

  void add(Count count, int more) {
    counts.merge(count, more, Integer::sum);
  }

  int get(Count count) {
    return counts.getOrDefault(count, 0);
  }

  void writeTo(JsonObject entry) {
    Arrays.stream(Count.values()).forEach(count -> entry.put(count.member(), get(count)));
  }
}
