package lectus.http.database;

import java.util.Map;
import lectus.http.Services;
import lectus.http.exchange.DatabaseNames;
import lectus.http.exchange.Resource;

/** The resources that are databases, what belongs to each, and lists of them. */
public final class DatabaseResources {
  private final Services services;
  private final DatabaseNames names;

  public DatabaseResources(Services services, DatabaseNames names) {
    this.services = services;
    this.names = names;
  }

  /**
   * {@code /{db}}.
   *
   * @param creation answers a {@code POST}, which creates a document
   */
  public Resource database(Resource creation) {
    return new DatabaseResource(services, names, creation);
  }

  /** A name that no document has. */
  public Resource unusableName() {
    return new UnusableNameResource(services, names);
  }

  public Map<String, Resource> atTop() {
    return Map.of(
        "_all_dbs", new AllDbsResource(services), "_dbs_info", new DbsInfoResource(services));
  }

  /** Below a database, each for all that lies below its name. */
  public Map<String, Resource> trees() {
    return Map.of(
        "_partition", new PartitionResource(services, names),
        "_compact", new CompactionResource(services, names));
  }

  /** Below a database. */
  public Map<String, Resource> inDatabase() {
    return Map.of(
        "_revs_limit", new RevsLimitResource(services, names),
        "_security", new SecurityResource(services, names),
        "_view_cleanup", new ViewCleanupResource(services, names),
        "_purged_infos", new PurgedInfosResource(services, names),
        "_purged_infos_limit", new PurgedInfosLimitResource(services, names),
        "_ensure_full_commit", new EnsureFullCommitResource(services, names));
  }
}
