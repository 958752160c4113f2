package lectus.audit;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import lectus.database.Era;
import lectus.database.Generation;
import lectus.database.ShardId;
import lectus.database.ShardTopology;

/**
 * Audits the shard map of a database: generations follow each other, and no shard belongs to two.
 */
record TopologyAudit(AuditedDatabase database, AuditReport report) {
  void run() {
    if (database.handle().version().length == 0) {
      report.add(database.place(), "it has no configuration");
    }
    ShardTopology topology = database.handle().topology();
    List<Generation> generations = topology.generations();
    Set<ShardId> shards = new HashSet<>();
    checkOrder(topology.eras());
    for (int i = 0; i < generations.size(); i++) {
      Generation generation = generations.get(i);
      boolean isLast = i == generations.size() - 1;
      if (generation.replaced() == isLast) {
        report.add(
            database.place(),
            isLast ? "its current shard map is replaced" : "an old shard map is not replaced");
      }
      for (ShardId shard : generation.shards()) {
        boolean isEmptied = topology.emptied().stream().anyMatch(it -> it.has(shard));
        if (!shards.add(shard) || isEmptied) {
          report.add(database.place(), "the shard " + shard + " comes twice in its shard maps");
        }
      }
    }
  }

  /** The first generation begins at 0, the others at sequences. */
  private void checkOrder(List<Era> eras) {
    for (int i = 0; i < eras.size(); i++) {
      if (eras.get(i).since().isEmpty() != (i == 0)) {
        report.add(database.place(), "its shard maps do not follow each other");
      }
    }
  }
}
