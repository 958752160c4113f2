package lectus.feed.many;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.Optional;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.database.InstanceId;

/**
 * The names of databases that readers have come across: events tell instances only, and whoever
 * follows some databases need not look whenever any other moves. What is not known, or was
 * forgotten, is looked at once and then known. For any thread.
 */
final class InstanceNames {
  private static final int MOST = 50_000;

  private final Cache<InstanceId, DatabaseName> names =
      Caffeine.newBuilder().maximumSize(MOST).build();

  /** An instance never changes its name. */
  void add(DatabaseUpdate row) {
    names.put(row.instance(), row.name());
  }

  Optional<DatabaseName> of(InstanceId instance) {
    return Optional.ofNullable(names.getIfPresent(instance));
  }
}
