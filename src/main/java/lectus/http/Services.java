package lectus.http;

import java.util.Optional;
import lectus.account.Accounts;
import lectus.attachment.AttachmentIntake;
import lectus.database.Catalogue;
import lectus.document.alldocs.AllDocs;
import lectus.document.bulk.BulkGet;
import lectus.document.bulk.RevisionsDiff;
import lectus.document.edit.DocumentParser;
import lectus.document.feed.FeedCatalogue;
import lectus.document.local.LocalDocuments;
import lectus.document.query.Queries;
import lectus.document.read.DocumentReader;
import lectus.document.write.Writes;
import lectus.feed.AdmissionNotices;
import lectus.feed.DatabaseNotices;
import lectus.feed.database.ChangesShards;
import lectus.feed.database.DatabaseInfo;
import lectus.feed.many.ManyDatabases;
import lectus.feed.page.ChangesReader;
import lectus.feed.tail.TailRegistry;
import lectus.feed.updates.StoreUpdates;
import lectus.http.count.Figures;
import lectus.http.memory.ClientMemory;
import lectus.http.token.Tokens;
import lectus.http.trace.Tracing;
import lectus.metrics.Metrics;
import lectus.store.StorePulse;
import lectus.task.Tasks;

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
    DatabaseNotices events,
    AdmissionNotices admissions,
    StorePulse pulse,
    Membership membership,
    OtherMembers others,
    ClientMemory memory,
    ReaderTurns readers,
    TailRegistry liveTails,
    Accounts accounts,
    Tokens tokens,
    UserUsage usage,
    Figures figures,
    Metrics metrics,
    Optional<Tracing> tracing,
    Tasks tasks,
    Runnable restart) {}
