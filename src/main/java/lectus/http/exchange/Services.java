package lectus.http.exchange;

import java.util.Optional;
import lectus.account.Accounts;
import lectus.attachment.AttachmentIntake;
import lectus.changes.multi.ManyDatabases;
import lectus.changes.multi.StoreUpdates;
import lectus.changes.notify.TailRegistry;
import lectus.changes.page.ChangesReader;
import lectus.changes.page.ChangesShards;
import lectus.changes.page.DatabaseInfo;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.SessionNotifications;
import lectus.database.Catalogue;
import lectus.derived.rows.FeedCatalogue;
import lectus.document.edit.DocumentParser;
import lectus.document.list.AllDocs;
import lectus.document.list.LocalDocuments;
import lectus.document.read.BulkGet;
import lectus.document.read.DocumentReader;
import lectus.document.read.RevisionsDiff;
import lectus.document.write.Writes;
import lectus.http.Membership;
import lectus.http.OtherMembers;
import lectus.http.ServedSettings.ChangeableSettings;
import lectus.http.Tokens;
import lectus.http.UserUsage;
import lectus.http.limits.ClientMemory;
import lectus.http.limits.RequestThreads;
import lectus.mango.query.Queries;
import lectus.metrics.Metrics;
import lectus.metrics.Tasks;
import lectus.store.StoreHeartbeat;

/**
 * The services that the resources use.
 *
 * @param storeId 32 hex digits
 * @param restart begins to restart the server; returns at once
 * @param readers runs what reads the store, and everything else that may block
 * @param tracing empty: no request is traced
 */
public record Services(
    String storeId,
    ChangeableSettings settings,
    Catalogue catalogue,
    DatabaseInfo databaseInfo,
    DocumentParser parser,
    DocumentReader documents,
    AllDocs allDocs,
    Queries queries,
    FeedCatalogue storedFeeds,
    BulkGet bulkGet,
    RevisionsDiff revisionsDiff,
    LocalDocuments localDocuments,
    AttachmentIntake attachments,
    ChangesReader changes,
    ManyDatabases manyDatabases,
    StoreUpdates storeUpdates,
    ChangesShards changesShards,
    Writes writes,
    DatabaseNotifications events,
    SessionNotifications admissions,
    StoreHeartbeat pulse,
    Membership membership,
    OtherMembers others,
    ClientMemory memory,
    RequestThreads readers,
    TailRegistry liveTails,
    Accounts accounts,
    Tokens tokens,
    UserUsage usage,
    HttpMetrics figures,
    Metrics metrics,
    Optional<Tracing> tracing,
    Tasks tasks,
    Runnable restart) {}
