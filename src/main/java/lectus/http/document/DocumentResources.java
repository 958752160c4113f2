package lectus.http.document;

import java.util.Map;
import lectus.document.alldocs.AllDocsQuery.Listing;
import lectus.http.HttpSettings;
import lectus.http.Services;
import lectus.http.exchange.DatabaseNames;
import lectus.http.exchange.Resource;

/** The resources that are documents, single ones, many at once, and lists of them. */
public final class DocumentResources {
  private final Services services;
  private final DatabaseNames names;
  private final Uuids uuids = new Uuids();
  private final DocumentWrites writes;

  public DocumentResources(Services services, DatabaseNames names) {
    this.services = services;
    this.names = names;
    this.writes = new DocumentWrites(services, uuids);
  }

  /** {@code /{db}/{docid}}. */
  public Resource document() {
    return new DocumentResource(services, names, writes);
  }

  /** {@code /{db}/{docid}/{attachment}}. */
  public Resource attachment() {
    return new AttachmentResource(services, names);
  }

  /** {@code /{db}/_local/{id}}. */
  public Resource localDocument() {
    return new LocalDocumentResource(services, names, writes, document());
  }

  /** What {@code POST /{db}} does. */
  public Resource creation() {
    return new DocumentCreation(writes, names);
  }

  /** {@code /_uuids}: ids for documents that are to be created. */
  public Resource uuids(HttpSettings settings) {
    return new UuidsResource(uuids, settings);
  }

  /** Below a database, each with {@code /queries} below it. */
  public Map<String, Resource> lists() {
    return Map.of(
        "_all_docs", new AllDocsResource(services, names, Listing.ALL),
        "_design_docs", new AllDocsResource(services, names, Listing.DESIGN),
        "_local_docs", new AllDocsResource(services, names, Listing.LOCAL));
  }

  /** Below a database. */
  public Map<String, Resource> inDatabase() {
    return Map.of(
        "_bulk_docs", new BulkDocsResource(services, names, uuids),
        "_bulk_get", new BulkGetResource(services, names),
        "_revs_diff", new RevisionsDiffResource(services, names, false),
        "_missing_revs", new RevisionsDiffResource(services, names, true));
  }
}
