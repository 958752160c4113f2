package lectus.http.database;

import java.util.Map;
import lectus.database.Catalogue;
import lectus.http.Services;
import lectus.http.access.DatabaseGuard;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Resource;

/** The resources of databases, of what belongs to each, and of lists of databases. */
public final class DatabaseApi {
  private final Services services;
  private final CheckedNames names;
  private final DatabaseGuard guard;

  public DatabaseApi(Services services, CheckedNames names, DatabaseGuard guard) {
    this.services = services;
    this.names = names;
    this.guard = guard;
  }

  /**
   * {@code /{db}}.
   *
   * @param creation answers a {@code POST}, which creates a document
   */
  public Resource database(Resource creation) {
    return new DatabaseResource(
        services.catalogue(), services.databaseInfo(), services.events(), names, creation);
  }

  /** Returns the resource for names that no document can have. */
  public Resource unusableName() {
    return new UnusableNameResource(services.catalogue(), names);
  }

  public Map<String, Resource> atTop() {
    return Map.of(
        "_all_dbs",
        new AllDbsResource(services.catalogue(), guard),
        "_dbs_info",
        new DbsInfoResource(services.catalogue(), guard, services.databaseInfo()));
  }

  /**
   * Returns the resources below a database that answer for everything below their names.
   *
   * @param queries what answers for a partition, too, by name
   */
  public Map<String, Resource> trees(Map<String, Resource> queries) {
    return Map.of(
        "_partition",
            new PartitionResource(
                services.catalogue(), services.databaseInfo(), services.allDocs(), names, queries),
        "_compact", new CompactionResource(services.catalogue(), services.documents(), names),
        "_feeds", new FeedsResource(services.storedFeeds(), names, services.events()));
  }

  /** Returns the resources below a database, by name. */
  public Map<String, Resource> inDatabase() {
    Catalogue catalogue = services.catalogue();
    return Map.of(
        "_revs_limit", new RevsLimitResource(catalogue, names),
        "_security",
            new SecurityResource(catalogue, guard, names, services.events(), services.accounts()),
        "_view_cleanup", new ViewCleanupResource(catalogue, names),
        "_auto_purge", new AutoPurgeResource(services.databaseInfo().autoPurge(), names),
        "_purged_infos", new PurgedInfosResource(services.databaseInfo(), names),
        "_purged_infos_limit", new PurgedInfosLimitResource(catalogue, names),
        "_ensure_full_commit", new EnsureFullCommitResource(catalogue, names));
  }
}
