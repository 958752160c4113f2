package lectus.http;

import lectus.database.Catalogue;
import lectus.document.alldocs.AllDocs;
import lectus.document.bulk.BulkGet;
import lectus.document.bulk.RevisionsDiff;
import lectus.document.edit.DocumentParser;
import lectus.document.local.LocalDocuments;
import lectus.document.read.DocumentReader;
import lectus.feed.DatabaseEvents;
import lectus.feed.database.ChangesShards;
import lectus.feed.database.DatabaseInfo;
import lectus.feed.many.ManyDatabases;
import lectus.feed.page.ChangesReader;
import lectus.feed.tail.LiveTails;
import lectus.feed.updates.StoreUpdates;
import lectus.http.memory.ClientMemory;
import lectus.store.StorePulse;

/**
 * What the resources are made of.
 *
 * @param storeId 32 hex digits
 * @param readers runs what reads the store, and everything else that may wait
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
    ClientMemory memory,
    ReaderTurns readers,
    LiveTails liveTails) {}
