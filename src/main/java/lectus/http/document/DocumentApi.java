package lectus.http.document;

import java.util.Map;
import java.util.function.Supplier;
import lectus.account.PublicFields;
import lectus.document.edit.InlineAttachments;
import lectus.document.list.AllDocs;
import lectus.document.list.AllDocsQuery.Listing;
import lectus.document.read.RevisionsDiff;
import lectus.http.HttpSettings;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Resource;
import lectus.http.exchange.Services;
import lectus.mango.query.Queries;

/** The resources of documents: single ones, many at once, and lists of them. */
public final class DocumentApi {
  private final Services services;
  private final CheckedNames names;
  private final Supplier<PublicFields> publicFields;
  private final Uuids uuids = new Uuids();
  private final EditPreparation preparation;
  private final DocumentEditing writes;

  /**
   * @param publicFields of users' documents; may change at any time
   */
  public DocumentApi(Services services, CheckedNames names, Supplier<PublicFields> publicFields) {
    this.publicFields = publicFields;
    this.services = services;
    this.names = names;
    this.preparation =
        new EditPreparation(services.accounts(), new InlineAttachments(services.attachments()));
    this.writes =
        new DocumentEditing(
            services.parser(), services.attachments(), services.writes(), preparation, uuids);
  }

  /** {@code /{db}/{docid}}. */
  public Resource document() {
    return new DocumentResource(
        services.documents(), copies(), names, writes, attachmentEditing(), publicFields);
  }

  /** {@code /{db}/{docid}/{attachment}}. */
  public Resource attachment() {
    return new AttachmentResource(
        names, new AttachmentRetrieval(services.documents().attachments()), attachmentEditing());
  }

  private AttachmentEditing attachmentEditing() {
    return new AttachmentEditing(
        services.documents(),
        services.documents().attachments(),
        services.attachments(),
        services.parser(),
        writes);
  }

  /** {@code /{db}/_local/{id}}. */
  public Resource localDocument() {
    return new LocalDocumentResource(
        services.localDocuments(), copies(), names, writes, document());
  }

  /** The answer of {@code POST /{db}}. */
  public Resource creation() {
    return new DocumentCreation(writes, names);
  }

  /** {@code /_uuids}: ids for new documents. */
  public Resource uuids(Supplier<HttpSettings> settings) {
    return new UuidsResource(uuids, () -> settings.get().maxUuids());
  }

  /** Returns the lists below a database, by name; each has {@code /queries} below it. */
  public Map<String, Resource> lists() {
    AllDocs documents = services.allDocs();
    return Map.of(
        "_all_docs", list(documents, Listing.ALL),
        "_design_docs", list(documents, Listing.DESIGN),
        "_local_docs", list(documents, Listing.LOCAL));
  }

  private Resource list(AllDocs documents, Listing listing) {
    return SecretUsers.forAdmins(new AllDocsResource(documents, names, listing), names);
  }

  /** Returns the resources below a database, by name. */
  public Map<String, Resource> inDatabase() {
    RevisionsDiff diff = services.revisionsDiff();
    return Map.of(
        "_bulk_docs",
        new BulkDocsResource(
            services.catalogue(),
            services.parser(),
            services.attachments(),
            services.writes(),
            preparation,
            names,
            uuids),
        "_bulk_get",
        SecretUsers.forAdmins(new BulkGetResource(services.bulkGet(), names), names),
        "_purge",
        new PurgeResource(services.catalogue(), writes, names),
        "_revs_diff",
        SecretUsers.forAdmins(new RevisionsDiffResource(diff, names, false), names),
        "_missing_revs",
        SecretUsers.forAdmins(new RevisionsDiffResource(diff, names, true), names));
  }

  /** Returns the queries of a database or of a partition, by name. */
  public Map<String, Resource> queries() {
    Queries queries = services.queries();
    return Map.of(
        "_find", SecretUsers.forAdmins(new FindResource(queries, names, false), names),
        "_explain", SecretUsers.forAdmins(new FindResource(queries, names, true), names));
  }

  /** {@code /{db}/_design/{name}/_info}. */
  public Resource designInfo() {
    return new DesignInfoResource(services.queries(), names);
  }

  /** {@code /{db}/_index}, with everything below it. */
  public Resource indexes() {
    return SecretUsers.forAdmins(
        new IndexResource(
            services.catalogue(),
            services.documents(),
            services.parser(),
            services.queries().indexes(),
            writes,
            names),
        names);
  }

  /** Returns a resource about many documents, which in a database of users is for its admins. */
  public Resource aboutMany(Resource resource) {
    return SecretUsers.forAdmins(resource, names);
  }

  private DocumentCopy copies() {
    return new DocumentCopy(
        services.documents(),
        services.documents().attachments(),
        services.localDocuments(),
        services.parser(),
        writes);
  }
}
