package lectus.http.exchange;

import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;
import lectus.account.Accounts;
import lectus.attachment.AttachmentIntake;
import lectus.changes.notify.ManyDatabases;
import lectus.changes.notify.StoreUpdates;
import lectus.changes.notify.TailRegistry;
import lectus.changes.page.ChangesReader;
import lectus.changes.page.ChangesShards;
import lectus.changes.page.DatabaseInfo;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.DeletedDatabases;
import lectus.changes.page.SessionNotifications;
import lectus.database.Catalogue;
import lectus.derived.rows.FeedCatalogue;
import lectus.document.edit.DocumentParser;
import lectus.document.read.AllDocs;
import lectus.document.read.BulkGet;
import lectus.document.read.DocumentReader;
import lectus.document.read.LocalDocuments;
import lectus.document.read.RevisionsDiff;
import lectus.document.write.Writes;
import lectus.http.OtherMembers;
import lectus.http.OtherMembers.Membership;
import lectus.http.ServedSettings.ChangeableSettings;
import lectus.http.Tokens;
import lectus.http.UserUsage;
import lectus.http.client.HttpCaller;
import lectus.http.limits.ClientMemory;
import lectus.http.limits.RequestThreads;
import lectus.image.Images;
import lectus.mango.query.Queries;
import lectus.metrics.Metrics;
import lectus.metrics.Tasks;
import lectus.relocation.Arrivals;
import lectus.relocation.Relocations;
import lectus.replication.Replications;
import lectus.replication.jobs.ReplicationJobs;
import lectus.store.StoreHeartbeat;
import lectus.view.Views;

/** What the resources use, by what it serves. */
public record Services(
    Databases databases,
    Documents documents,
    Queries queries,
    Views views,
    DesignFunctions functions,
    Changes changes,
    Users users,
    Replications replications,
    ReplicationJobs jobs,
    Server server,
    PerRequest perRequest) {

  /** Databases as a whole. */
  public record Databases(
      Catalogue catalogue,
      DatabaseInfo info,
      DeletedDatabases deleted,
      FeedCatalogue storedFeeds,
      Images images,
      Relocations relocations,
      Arrivals arrivals,
      DatabaseNotifications events) {}

  /** Documents, one or many. */
  public record Documents(
      DocumentParser parser,
      DocumentReader reader,
      AllDocs lists,
      LocalDocuments local,
      BulkGet bulkGet,
      RevisionsDiff revisionsDiff,
      AttachmentIntake attachments,
      Writes writes) {}

  /** Feeds of changes. */
  public record Changes(
      ChangesReader reader,
      ChangesShards shards,
      ManyDatabases manyDatabases,
      StoreUpdates ofStore,
      TailRegistry tails,
      SessionNotifications sessions) {}

  /** Who sends requests, and how many. */
  public record Users(Accounts accounts, Tokens tokens, UserUsage usage) {}

  /**
   * The server itself, and those beside it.
   *
   * @param storeId 32 hex digits
   * @param caller asks servers elsewhere
   * @param restart begins to restart the server; returns at once
   * @param checkpoint as {@link lectus.store.Store#checkpoint}
   */
  public record Server(
      String storeId,
      ChangeableSettings settings,
      StoreHeartbeat pulse,
      Membership membership,
      OtherMembers others,
      HttpCaller caller,
      Metrics metrics,
      Tasks tasks,
      Runnable restart,
      Supplier<Optional<Path>> checkpoint) {}

  /**
   * What every request uses.
   *
   * @param readers runs what reads the store, and everything else that may block
   * @param tracing empty: no request is traced
   */
  public record PerRequest(
      ClientMemory memory,
      RequestThreads readers,
      HttpMetrics figures,
      Optional<Tracing> tracing) {}
}
