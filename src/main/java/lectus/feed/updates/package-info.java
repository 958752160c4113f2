/**
 * What is read of the updates log: which databases were created, updated and deleted, and where
 * readers of the whole store begin, stand, and hear of news. It knows no rows of documents.
 */
package lectus.feed.updates;
