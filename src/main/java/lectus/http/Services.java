package lectus.http;

import java.util.concurrent.Executor;
import lectus.database.Catalogue;
import lectus.document.AllDocs;
import lectus.document.BulkGet;
import lectus.document.DocumentParser;
import lectus.document.DocumentReader;
import lectus.document.LocalDocuments;
import lectus.document.RevisionsDiff;
import lectus.feed.ChangesReader;
import lectus.feed.ChangesShards;
import lectus.feed.DatabaseEvents;
import lectus.feed.DatabaseInfo;
import lectus.feed.LiveTails;
import lectus.feed.ManyDatabases;
import lectus.feed.StoreUpdates;
import lectus.store.StorePulse;

/**
 * What the resources are made of.
 *
 * @param storeId 32 hex digits
 * @param readers runs what reads the store, and everything else that may wait; refuses with
 *     RejectedExecutionException when it is overloaded
 * @param feedReaders as {@code readers}, for the pages of feeds
 */
public record Services(
    String storeId,
    Catalogue catalogue,
    DatabaseInfo databaseInfo,
    DocumentParser parser,
    DocumentReader documents,
    AllDocs allDocs,
    BulkGet bulkGet,
    RevisionsDiff revisionsDiff,
    LocalDocuments localDocuments,
    ChangesReader changes,
    ManyDatabases manyDatabases,
    StoreUpdates storeUpdates,
    ChangesShards changesShards,
    Writes writes,
    DatabaseEvents events,
    StorePulse pulse,
    Membership membership,
    BodyMemory bodyMemory,
    Executor readers,
    Executor feedReaders,
    LiveTails liveTails) {}
