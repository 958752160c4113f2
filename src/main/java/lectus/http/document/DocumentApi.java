package lectus.http.document;

import io.vertx.core.http.HttpHeaders;
import java.math.BigInteger;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import lectus.attachment.Digests;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.document.AttachmentsShown;
import lectus.document.DocumentId;
import lectus.document.edit.AttachmentEdits.InlineAttachments;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.read.AllDocs;
import lectus.document.read.AllDocsQuery;
import lectus.document.read.AllDocsQuery.Listing;
import lectus.document.read.BulkGet;
import lectus.document.read.BulkGetForm;
import lectus.document.read.BulkGetJson;
import lectus.document.read.LocalDocuments;
import lectus.document.write.EditOutcome;
import lectus.document.write.PurgeRequest;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.AcceptedTypes;
import lectus.http.Boundary;
import lectus.http.EntityTag;
import lectus.http.ErrorStatus;
import lectus.http.HttpSettings;
import lectus.http.Method;
import lectus.http.MultipartBulkGet;
import lectus.http.QueryParameters;
import lectus.http.Reply;
import lectus.http.document.SecretDocuments.Shown;
import lectus.http.exchange.DesignFunctions;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.Services;
import lectus.http.exchange.Services.Documents;
import lectus.http.exchange.StreamedBody;
import lectus.json.JsonBuffer;
import lectus.mango.query.Queries;
import lectus.revision.RevisionText;
import lectus.view.Views;

/** The resources of documents: single ones, many at once, and lists of them. */
public final class DocumentApi {
  private static final String METHODS = "DELETE,GET,HEAD,POST,PUT,COPY";
  private static final String LONG_AGO = "Mon, 01 Jan 1990 00:00:00 GMT";

  /** Of a local document. */
  private static final Pattern REVISION = Pattern.compile("[0-9]+-.*", Pattern.DOTALL);

  private static final List<String> MULTIPART = List.of("multipart/mixed", "multipart/related");

  /** Parameters that each element of the {@code docs} of {@code _bulk_get} has for itself. */
  private static final List<String> OF_SINGLE_DOCUMENTS =
      List.of("open_revs", "new_edits", "w", "rev", "atts_since");

  private final Catalogue catalogue;
  private final Documents documents;
  private final Queries queries;
  private final Views views;
  private final DesignFunctions functions;
  private final Supplier<HttpSettings> settings;
  private final Uuids uuids = new Uuids();
  private final EditPreparation preparation;
  private final DocumentRetrieval reads;
  private final DocumentEditing writes;
  private final AttachmentRetrieval attachmentReads;
  private final AttachmentEditing attachmentWrites;
  private final DocumentCopy copies;

  /**
   * @param settings may change at any time
   */
  public DocumentApi(Services services, Supplier<HttpSettings> settings) {
    this.catalogue = services.databases().catalogue();
    this.documents = services.documents();
    this.queries = services.queries();
    this.views = services.views();
    this.functions = services.functions();
    this.settings = settings;
    this.preparation =
        new EditPreparation(
            services.users().accounts(),
            new InlineAttachments(documents.attachments()),
            new DesignCheck(functions));
    this.reads = new DocumentRetrieval(documents.reader());
    this.writes = new DocumentEditing(documents, preparation, uuids);
    this.attachmentReads = new AttachmentRetrieval(documents.reader().attachments());
    this.attachmentWrites = new AttachmentEditing(documents, writes);
    this.copies = new DocumentCopy(documents, writes);
  }

  /** Returns the lists below a database, by name; each has {@code /queries} below it. */
  public Map<String, Resource> lists() {
    return Map.of(
        "_all_docs", list(Listing.ALL),
        "_design_docs", list(Listing.DESIGN),
        "_local_docs", list(Listing.LOCAL));
  }

  private Resource list(Listing listing) {
    return aboutMany(exchange -> list(exchange, listing));
  }

  /** Returns the resources below a database, by name. */
  public Map<String, Resource> inDatabase() {
    return Map.of(
        "_bulk_docs", new BulkDocsResource(catalogue, documents, preparation, uuids),
        "_bulk_get", aboutMany(this::bulkGet),
        "_purge", this::purge,
        "_revs_diff", aboutMany(exchange -> diff(exchange, documents.revisionsDiff()::revsDiff)),
        "_missing_revs",
            aboutMany(exchange -> diff(exchange, documents.revisionsDiff()::missingRevs)));
  }

  /** Returns the queries of a database or of a partition, by name. */
  public Map<String, Resource> queries() {
    return Map.of("_find", aboutMany(this::find), "_explain", aboutMany(this::explain));
  }

  /** {@code /{db}/_design/{name}/_view}, with everything below it, also of a partition. */
  public Resource view() {
    return aboutMany(new ViewResource(views));
  }

  /** Returns what answers for a partition, by name: queries, and the views of design documents. */
  public Map<String, Resource> inPartition() {
    Map<String, Resource> all = new HashMap<>(queries());
    all.put("_design", view());
    return all;
  }

  /** {@code /{db}/_design/{name}/_update/{function}}, and with a document's id. */
  public Resource update() {
    return new UpdateResource(functions, documents, writes);
  }

  /** {@code /{db}/_index}, with everything below it. */
  public Resource indexes() {
    return aboutMany(new IndexResource(catalogue, documents, queries.indexes(), writes));
  }

  /** Returns a resource about many documents, which in a database of users is for its admins. */
  public Resource aboutMany(Resource resource) {
    return exchange -> {
      SecretDocuments.checkMany(exchange);
      resource.serve(exchange);
    };
  }

  /** {@code /{db}/{docid}}, design documents included. */
  public void document(Exchange exchange) {
    DatabaseRequest database = exchange.database();
    String id = idOf(exchange.target().segments());
    boolean isReading = exchange.method() == Method.GET || exchange.isHead();
    Optional<Shown> shown =
        isReading
            ? SecretDocuments.shown(
                exchange, database.name(), id, settings.get().access().publicFields())
            : Optional.empty();
    if (shown.isPresent()) {
      reads.getShown(exchange, database, id, shown.get());
      return;
    }
    if (exchange.method() == Method.COPY) {
      SecretDocuments.checkWhole(exchange, database.name(), id);
    } else if (exchange.method() != Method.PUT) {
      SecretDocuments.check(exchange, database.name(), id);
    }
    switch (exchange.method()) {
      case GET, HEAD -> reads.get(exchange, database, id);
      case PUT -> writes.put(exchange, database.name(), id);
      case DELETE -> delete(exchange, database, id);
      case COPY -> copies.copy(exchange, database, id);
      case POST -> attachmentWrites.post(exchange, database, id);
      default -> throw Requests.notAllowed(METHODS);
    }
  }

  /**
   * Joins the path segments after the database's name to a document's id.
   *
   * @param segments of a path that names a document: {@code _design/x} and {@code _local/x} may
   *     arrive as two names or as one with an encoded slash
   */
  private static String idOf(List<String> segments) {
    String id = segments.get(1);
    return segments.size() == 2 ? id : id + '/' + segments.get(2);
  }

  /**
   * A document that does not exist, or is deleted, answers 404 whatever the revision, so it is
   * looked up before anything is written.
   */
  private void delete(Exchange exchange, DatabaseRequest database, String id) {
    exchange
        .work(() -> documents.reader().currentRevision(database, id))
        .onComplete(
            live ->
                exchange.guarded(
                    () -> {
                      InteractiveEdit edit =
                          InteractiveEdit.deletion(id, DocumentEditing.givenRevision(exchange));
                      writes.submit(
                          exchange, database.name(), edit, done -> WriteReply.of(done, 200, null));
                    }),
            exchange::fail);
  }

  /** {@code POST /{db}}: a document with an id of the server's. */
  public void create(Exchange exchange) {
    Requests.wantJson(exchange);
    writes.post(exchange, exchange.databaseName());
  }

  /** {@code /{db}/{docid}/{attachment}}, whatever slashes the attachment's name has. */
  public void attachment(Exchange exchange) {
    DatabaseRequest database = exchange.database();
    List<String> segments = exchange.target().segments();
    // The slash in a design document's id may arrive encoded.
    boolean hasTwoNames = segments.get(1).equals("_design");
    String id = hasTwoNames ? DocumentId.DESIGN_PREFIX + segments.get(2) : segments.get(1);
    String name = String.join("/", segments.subList(hasTwoNames ? 3 : 2, segments.size()));
    SecretDocuments.check(exchange, database.name(), id);
    switch (exchange.method()) {
      case GET, HEAD -> attachmentReads.get(exchange, database, id, name);
      case PUT -> attachmentWrites.put(exchange, database, id, name);
      case DELETE -> attachmentWrites.delete(exchange, database, id, name);
      default -> throw Requests.notAllowed("DELETE,GET,HEAD,PUT");
    }
  }

  /**
   * {@code /{db}/_local/{id}}. A local document has no other revisions to ask for: as in CouchDB,
   * {@code rev} and {@code open_revs} refer to the documents that replicate.
   */
  public void localDocument(Exchange exchange) {
    DatabaseRequest database = exchange.database();
    String id = idOf(exchange.target().segments());
    if (exchange.method() != Method.PUT) {
      SecretDocuments.check(exchange, database.name(), id);
    }
    switch (exchange.method()) {
      case GET, HEAD -> getLocal(exchange, database, id);
      case PUT -> writes.putLocal(exchange, database.name(), id);
      case COPY -> copies.copyLocal(exchange, database, id);
      case DELETE -> exchange.answer(() -> deleteLocal(exchange, database, id));
      case POST -> {
        FormUpload.check(exchange, id);
        throw LectusException.badRequest("Local documents have no attachments.");
      }
      default -> throw Requests.notAllowed(METHODS);
    }
  }

  private void getLocal(Exchange exchange, DatabaseRequest database, String id) {
    if (exchange.query().get("open_revs") != null) {
      document(exchange);
      return;
    }
    Optional<String> rev = exchange.query().text("rev");
    if (rev.isPresent() && !exchange.query().isTrue("latest")) {
      requireRevision(rev.get());
      throw LectusException.notFound("missing");
    }
    boolean revs = exchange.query().isTrue("revs");
    exchange.answer(() -> readLocal(exchange, database, id, revs));
  }

  private static String requireRevision(String text) {
    if (!REVISION.matcher(text).matches()) {
      throw LectusException.badRequest("Invalid rev format");
    }
    return text;
  }

  private Reply readLocal(Exchange exchange, DatabaseRequest database, String id, boolean revs) {
    JsonBuffer out = new JsonBuffer(512);
    String revision = documents.local().read(database, id, out);
    String tag = digest(out);
    if (exchange.hasSeen(new EntityTag(tag))) {
      return Reply.empty(304).withEtag(tag);
    }
    if (revs) {
      LocalDocuments.appendRevisions(out, revision);
    }
    return Reply.json(200, out).withEtag(tag);
  }

  /**
   * The ETag. A local document's revision may come again with another body, so the tag is a digest
   * of the body.
   */
  private static String digest(JsonBuffer json) {
    MessageDigest md5 = Digests.md5();
    md5.update(json.array(), 0, json.length());
    return new BigInteger(1, md5.digest()).toString(Character.MAX_RADIX).toUpperCase(Locale.ROOT);
  }

  /**
   * A document that does not exist is a 404 whatever the revision; one that exists is deleted
   * whatever its revision.
   */
  private Reply deleteLocal(Exchange exchange, DatabaseRequest database, String id) {
    if (DocumentEditing.namesRevision(exchange)) {
      documents.local().read(database, id, new JsonBuffer(512));
      DocumentEditing.givenRevision(exchange, DocumentApi::requireRevision);
    }
    String revision = documents.local().delete(database.name(), id);
    JsonBuffer out = new JsonBuffer(96);
    WriteReply.appendStored(id, revision, out);
    return Reply.json(200, out);
  }

  /** {@code /{db}/_design/{name}/_info}. */
  public void designInfo(Exchange exchange) {
    Requests.allow(exchange, "GET,HEAD");
    DatabaseRequest database = exchange.database();
    String design = exchange.segment(2);
    exchange.answer(
        () ->
            Reply.json(
                200, queries.info(database, design).orElseGet(() -> views.info(database, design))));
  }

  /** What a diff of revisions answers to a body. */
  private interface Diff {
    void append(DatabaseRequest database, byte[] body, JsonBuffer out);
  }

  /** {@code /{db}/_revs_diff} and its older form {@code /{db}/_missing_revs}. */
  private static void diff(Exchange exchange, Diff diff) {
    Requests.wantPostOfJson(exchange);
    DatabaseRequest database = exchange.database();
    exchange.answerBody(
        body -> {
          JsonBuffer out = new JsonBuffer(1_024);
          diff.append(database, body, out);
          return Reply.json(200, out);
        });
  }

  /** {@code /{db}/_find}, also of a partition. */
  private void find(Exchange exchange) {
    Requests.wantPostOfJson(exchange);
    DatabaseRequest database = exchange.database();
    Optional<String> partition = partition(exchange);
    exchange.streamBody(body -> queries.find(database, body, partition));
  }

  /** {@code /{db}/_explain}, also of a partition. */
  private void explain(Exchange exchange) {
    Requests.wantPostOfJson(exchange);
    DatabaseRequest database = exchange.database();
    Optional<String> partition = partition(exchange);
    exchange.answerBody(body -> Reply.json(200, queries.explain(database, body, partition)));
  }

  private static Optional<String> partition(Exchange exchange) {
    return exchange.segment(1).equals("_partition")
        ? Optional.of(exchange.segment(2))
        : exchange.query().text("partition");
  }

  /**
   * {@code /{db}/_all_docs}, {@code _design_docs}, {@code _local_docs}, each with {@code /queries}.
   */
  private void list(Exchange exchange, Listing listing) {
    AllDocs lists = documents.lists();
    DatabaseRequest database = exchange.database();
    Map<String, String> parameters = exchange.query().asMap();
    if (exchange.target().segments().size() == 3) {
      Requests.wantPostOfJson(exchange);
      exchange.streamBody(
          body -> lists.answers(database, AllDocsQuery.parseQueries(listing, parameters, body)));
    } else if (exchange.method() == Method.POST) {
      Requests.wantJson(exchange);
      exchange.streamBody(
          body -> lists.answer(database, AllDocsQuery.parse(listing, parameters, body)));
    } else {
      Requests.allow(exchange, "GET,HEAD,POST");
      exchange.stream(() -> lists.answer(database, AllDocsQuery.parse(listing, parameters, null)));
    }
  }

  /** {@code /_uuids?count=}: ids for new documents. */
  public void uuids(Exchange exchange) {
    Requests.allow(exchange, "GET");
    int count = count(exchange.query().get("count"));
    JsonBuffer json = new JsonBuffer(16 + 35 * count);
    json.ascii("{\"uuids\":[");
    for (int i = 0; i < count; i++) {
      json.ascii(i == 0 ? "" : ",").string(uuids.next());
    }
    exchange.reply(
        Reply.json(200, json.ascii("]}"))
            .with(HttpHeaders.CACHE_CONTROL, "no-cache")
            .with(HttpHeaders.createOptimized("Pragma"), "no-cache")
            .with(HttpHeaders.EXPIRES, LONG_AGO)
            .withEtag(uuids.next()));
  }

  private int count(String text) {
    int count;
    try {
      count = text == null ? 1 : Integer.parseInt(text);
    } catch (NumberFormatException e) {
      count = -1;
    }
    if (count < 0) {
      throw LectusException.badRequest("count must be a positive integer");
    }
    if (text != null && count > settings.get().requests().maxUuids()) {
      throw LectusException.badRequest("count parameter too large");
    }
    return count;
  }

  /** {@code /{db}/_purge}. */
  private void purge(Exchange exchange) {
    Requests.wantPostOfJson(exchange);
    DatabaseName database = exchange.databaseName();
    exchange
        .jsonBody()
        .compose(body -> exchange.work(() -> purges(database, body)))
        .onComplete(
            edits ->
                exchange.guarded(
                    () -> writes.submitAll(exchange, database, edits, DocumentApi::purged)),
            exchange::fail);
  }

  private List<Edit> purges(DatabaseName database, byte[] body) {
    DatabaseHandle db = catalogue.open(database);
    List<Edit> edits = new ArrayList<>(PurgeRequest.parse(body));
    edits.forEach(edit -> DocumentId.checkIn(db, edit.id()));
    return edits;
  }

  /** As in CouchDB, the purge sequence is null, and the worst status is that of the whole. */
  private static Reply purged(List<EditOutcome> outcomes) {
    JsonBuffer out = new JsonBuffer(64 + 64 * outcomes.size());
    out.ascii("{\"purge_seq\":null,\"purged\":{");
    int status = 201;
    String separator = "";
    for (EditOutcome outcome : outcomes) {
      out.ascii(separator).string(outcome.id()).octet(':');
      if (outcome instanceof EditOutcome.Purged purged) {
        RevisionText.appendAll(out, purged.revisions());
      } else {
        LectusError error = ((EditOutcome.Failed) outcome).error();
        status = Math.max(status, ErrorStatus.of(error));
        out.ascii("{\"error\":").string(error.error());
        out.ascii(",\"reason\":").string(error.reason()).octet('}');
      }
      separator = ",";
    }
    return Reply.json(status, out.ascii("}}"));
  }

  /** {@code /{db}/_bulk_get}. */
  private void bulkGet(Exchange exchange) {
    Requests.wantPostOfJson(exchange);
    QueryParameters query = exchange.query();
    for (String name : OF_SINGLE_DOCUMENTS) {
      if (query.get(name) != null) {
        throw LectusException.badRequest("\"" + name + "\" query parameter is not acceptable");
      }
    }
    DatabaseRequest database = exchange.database();
    boolean revs = query.isTrue("revs");
    boolean latest = query.isTrue("latest");
    AttachmentsShown attachments = DocumentRetrieval.shown(query);
    BulkGet bulkGet = documents.bulkGet();
    Optional<String> multipart = multipart(exchange.accepts());
    if (multipart.isEmpty()) {
      boolean areNamed = query.isTrue("named_stubs") && !attachments.showsBytes();
      AttachmentsShown inJson = areNamed ? AttachmentsShown.NAMED : attachments;
      exchange.streamBody(
          body -> bulkGet.answer(database, body, revs, latest, inJson, new BulkGetJson()));
      return;
    }
    Boundary boundary = Boundary.randomOfBulk();
    BulkGetForm form = new MultipartBulkGet(boundary);
    exchange
        .jsonBody()
        .onComplete(
            body ->
                exchange.streamTagged(
                    () ->
                        StreamedBody.of(
                            boundary.contentType(multipart.get()),
                            bulkGet.answer(
                                database, body, revs, latest, attachments.following(), form))),
            exchange::fail);
  }

  /** CouchDB prefers JSON here, and {@code multipart/mixed} among the other types. */
  private static Optional<String> multipart(AcceptedTypes accepted) {
    return accepted.include("application/json")
        ? Optional.empty()
        : MULTIPART.stream().filter(accepted::include).findFirst();
  }

  /**
   * Ids for new documents: 32 hex digits. The first 26 stay the same for a while and the others
   * count up by random steps, so that documents created in succession lie together (CouchDB's
   * algorithm "sequential"). Thread-safe.
   */
  static final class Uuids {
    private static final int PREFIX_BYTES = 13;
    private static final int COUNTER_END = 0xfff000;
    private static final int LONGEST_STEP = 0xffe;

    private String prefix;
    private int counter = COUNTER_END;

    synchronized String next() {
      ThreadLocalRandom random = ThreadLocalRandom.current();
      if (counter >= COUNTER_END) {
        byte[] bytes = new byte[PREFIX_BYTES];
        random.nextBytes(bytes);
        prefix = HexFormat.of().formatHex(bytes);
        counter = random.nextInt(LONGEST_STEP);
      }
      counter += 1 + random.nextInt(LONGEST_STEP);
      return prefix + HexFormat.of().toHexDigits(counter, 6);
    }
  }
}
