package lectus.audit;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import lectus.database.Generation;
import lectus.database.ShardId;

/** The shard map of a database: generations follow each other, and no shard belongs to two. */
record TopologyAudit(AuditedDatabase database, AuditReport report) {
  void run() {
    if (database.handle().version().length == 0) {
      report.add(database.place(), "it has no configuration");
    }
    List<Generation> generations = database.handle().topology().generations();
    Set<ShardId> shards = new HashSet<>();
    for (int i = 0; i < generations.size(); i++) {
      Generation generation = generations.get(i);
      boolean isLast = i == generations.size() - 1;
      if (generation.replaced() == isLast) {
        report.add(
            database.place(),
            isLast ? "its current shard map is replaced" : "an old shard map is not replaced");
      }
      if (generation.since().isEmpty() != (i == 0)) {
        report.add(database.place(), "its shard maps do not follow each other");
      }
      for (ShardId shard : generation.shards()) {
        if (!shards.add(shard)) {
          report.add(database.place(), "the shard " + shard + " comes twice in its shard maps");
        }
      }
    }
  }
}
