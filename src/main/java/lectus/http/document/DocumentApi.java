package lectus.http.document;

import io.vertx.core.http.HttpHeaders;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import lectus.account.UserDocuments.PublicFields;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.document.AttachmentsShown;
import lectus.document.DocumentId;
import lectus.document.PagedBody;
import lectus.document.PartitionedId;
import lectus.document.edit.AttachmentEdits.InlineAttachments;
import lectus.document.edit.Edit;
import lectus.document.list.AllDocs;
import lectus.document.list.AllDocsQuery;
import lectus.document.list.AllDocsQuery.Listing;
import lectus.document.read.BulkGet;
import lectus.document.read.BulkGetForm;
import lectus.document.read.BulkGetJson;
import lectus.document.read.RevisionsDiff;
import lectus.document.write.EditOutcome;
import lectus.document.write.PurgeRequest;
import lectus.error.LectusException;
import lectus.http.AcceptedTypes;
import lectus.http.Boundary;
import lectus.http.ErrorStatus;
import lectus.http.HttpSettings;
import lectus.http.Method;
import lectus.http.MultipartBulkGet;
import lectus.http.QueryParameters;
import lectus.http.Reply;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.Services;
import lectus.http.exchange.StreamedBody;
import lectus.json.JsonBuffer;
import lectus.mango.query.Queries;
import lectus.revision.RevisionText;

/** The resources of documents: single ones, many at once, and lists of them. */
public final class DocumentApi {
  private final Services services;
  private final Supplier<PublicFields> publicFields;
  private final Uuids uuids = new Uuids();
  private final EditPreparation preparation;
  private final DocumentEditing writes;

  /**
   * @param publicFields of users' documents; may change at any time
   */
  public DocumentApi(Services services, Supplier<PublicFields> publicFields) {
    this.publicFields = publicFields;
    this.services = services;
    this.preparation =
        new EditPreparation(services.accounts(), new InlineAttachments(services.attachments()));
    this.writes =
        new DocumentEditing(
            services.parser(), services.attachments(), services.writes(), preparation, uuids);
  }

  /** {@code /{db}/{docid}}. */
  public Resource document() {
    return new DocumentResource(
        services.documents(), copies(), writes, attachmentEditing(), publicFields);
  }

  /** {@code /{db}/{docid}/{attachment}}. */
  public Resource attachment() {
    return new AttachmentResource(
        new AttachmentRetrieval(services.documents().attachments()), attachmentEditing());
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
    return new LocalDocumentResource(services.localDocuments(), copies(), writes, document());
  }

  /** The answer of {@code POST /{db}}. */
  public Resource creation() {
    return new DocumentCreation(writes);
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
    return SecretUsers.forAdmins(new AllDocsResource(documents, listing));
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
            uuids),
        "_bulk_get",
        SecretUsers.forAdmins(new BulkGetResource(services.bulkGet())),
        "_purge",
        new PurgeResource(services.catalogue(), writes),
        "_revs_diff",
        SecretUsers.forAdmins(new RevisionsDiffResource(diff, false)),
        "_missing_revs",
        SecretUsers.forAdmins(new RevisionsDiffResource(diff, true)));
  }

  /** Returns the queries of a database or of a partition, by name. */
  public Map<String, Resource> queries() {
    Queries queries = services.queries();
    return Map.of(
        "_find", SecretUsers.forAdmins(new FindResource(queries, false)),
        "_explain", SecretUsers.forAdmins(new FindResource(queries, true)));
  }

  /** {@code /{db}/_design/{name}/_info}. */
  public Resource designInfo() {
    return new DesignInfoResource(services.queries());
  }

  /** {@code /{db}/_index}, with everything below it. */
  public Resource indexes() {
    return SecretUsers.forAdmins(
        new IndexResource(
            services.catalogue(),
            services.documents(),
            services.parser(),
            services.queries().indexes(),
            writes));
  }

  /** Returns a resource about many documents, which in a database of users is for its admins. */
  public Resource aboutMany(Resource resource) {
    return SecretUsers.forAdmins(resource);
  }

  private DocumentCopy copies() {
    return new DocumentCopy(
        services.documents(),
        services.documents().attachments(),
        services.localDocuments(),
        services.parser(),
        writes);
  }

  /** POST of a document to its database. */
  private record DocumentCreation(DocumentEditing writes) implements Resource {
    @Override
    public void serve(Exchange exchange) {
      Requests.wantJson(exchange);
      writes.post(exchange, exchange.databaseName());
    }
  }

  /** {@code /{db}/_design/{name}/_info}. */
  private record DesignInfoResource(Queries queries) implements Resource {
    @Override
    public void serve(Exchange exchange) {
      if (exchange.method() != Method.GET && exchange.method() != Method.HEAD) {
        throw Requests.notAllowed("GET,HEAD");
      }
      DatabaseRequest database = exchange.database();
      String design = exchange.segment(2);
      exchange.answer(() -> Reply.json(200, queries.info(database, design)));
    }
  }

  /** {@code /{db}/_revs_diff} and its older form {@code /{db}/_missing_revs}. */
  private record RevisionsDiffResource(RevisionsDiff diff, boolean missingOnly)
      implements Resource {
    @Override
    public void serve(Exchange exchange) {
      if (exchange.method() != Method.POST) {
        throw Requests.notAllowed("POST");
      }
      Requests.wantJson(exchange);
      DatabaseRequest database = exchange.database();
      exchange.answerBody(body -> Reply.json(200, answer(database, body)));
    }

    private JsonBuffer answer(DatabaseRequest database, byte[] body) {
      JsonBuffer out = new JsonBuffer(1_024);
      if (missingOnly) {
        diff.missingRevs(database, body, out);
      } else {
        diff.revsDiff(database, body, out);
      }
      return out;
    }
  }

  /** {@code /{db}/_find} and {@code /{db}/_explain}, also of a partition. */
  private record FindResource(Queries queries, boolean explains) implements Resource {
    private static final String PARTITION = "_partition";

    @Override
    public void serve(Exchange exchange) {
      if (exchange.method() != Method.POST) {
        throw Requests.notAllowed("POST");
      }
      Requests.wantJson(exchange);
      DatabaseRequest database = exchange.database();
      Optional<String> partition = partition(exchange);
      if (explains) {
        exchange.answerBody(body -> Reply.json(200, queries.explain(database, body, partition)));
      } else {
        exchange.streamBody(body -> queries.find(database, body, partition));
      }
    }

    private static Optional<String> partition(Exchange exchange) {
      return exchange.segment(1).equals(PARTITION)
          ? Optional.of(exchange.segment(2))
          : exchange.query().text("partition");
    }
  }

  /** Attachments: the paths below a document, whatever slashes their names have. */
  private record AttachmentResource(AttachmentRetrieval reads, AttachmentEditing writes)
      implements Resource {
    private static final String METHODS = "DELETE,GET,HEAD,PUT";

    @Override
    public void serve(Exchange exchange) {
      DatabaseRequest database = exchange.database();
      String id = documentOf(exchange.segments());
      String name = nameOf(exchange.segments());
      SecretUsers.check(exchange, database.name(), id);
      switch (exchange.method()) {
        case GET, HEAD -> reads.get(exchange, database, id, name);
        case PUT -> writes.put(exchange, database, id, name);
        case DELETE -> writes.delete(exchange, database, id, name);
        default -> throw Requests.notAllowed(METHODS);
      }
    }

    private static boolean hasTwoNames(List<String> segments) {
      return segments.get(1).equals("_design");
    }

    /** The slash in a design document's id may arrive encoded. */
    private static String documentOf(List<String> segments) {
      return hasTwoNames(segments) ? DocumentId.DESIGN_PREFIX + segments.get(2) : segments.get(1);
    }

    private static String nameOf(List<String> segments) {
      return String.join("/", segments.subList(hasTwoNames(segments) ? 3 : 2, segments.size()));
    }
  }

  /**
   * {@code /{db}/_all_docs}, {@code _design_docs}, {@code _local_docs}, each with {@code /queries}.
   */
  private record AllDocsResource(AllDocs allDocs, Listing listing) implements Resource {
    @Override
    public void serve(Exchange exchange) {
      DatabaseRequest database = exchange.database();
      Map<String, String> parameters = exchange.query().asMap();
      if (exchange.segments().size() == 3) {
        serveQueries(exchange, database, parameters);
        return;
      }
      switch (exchange.method()) {
        case GET, HEAD ->
            exchange.stream(
                () -> allDocs.answer(database, AllDocsQuery.parse(listing, parameters, null)));
        case POST -> {
          Requests.wantJson(exchange);
          exchange.streamBody(
              body -> allDocs.answer(database, AllDocsQuery.parse(listing, parameters, body)));
        }
        default -> throw Requests.notAllowed("GET,HEAD,POST");
      }
    }

    private void serveQueries(
        Exchange exchange, DatabaseRequest database, Map<String, String> parameters) {
      if (exchange.method() != Method.POST) {
        throw Requests.notAllowed("POST");
      }
      Requests.wantJson(exchange);
      exchange.streamBody(
          body -> allDocs.answers(database, AllDocsQuery.parseQueries(listing, parameters, body)));
    }
  }

  /** {@code /_uuids?count=}. */
  private record UuidsResource(Uuids uuids, IntSupplier most) implements Resource {
    private static final String LONG_AGO = "Mon, 01 Jan 1990 00:00:00 GMT";

    @Override
    public void serve(Exchange exchange) {
      switch (exchange.method()) {
        case GET, HEAD -> exchange.reply(reply(count(exchange.query().get("count"))));
        default -> throw Requests.notAllowed("GET");
      }
    }

    private int count(String text) {
      if (text == null) {
        return 1;
      }
      try {
        int count = Integer.parseInt(text);
        if (count > most.getAsInt()) {
          throw LectusException.badRequest("count parameter too large");
        }
        if (count >= 0) {
          return count;
        }
      } catch (NumberFormatException e) {
        // falls through to the answer for a negative number
      }
      throw LectusException.badRequest("count must be a positive integer");
    }

    private Reply reply(int count) {
      JsonBuffer json = new JsonBuffer(16 + 35 * count);
      json.ascii("{\"uuids\":[");
      for (int i = 0; i < count; i++) {
        json.ascii(i == 0 ? "" : ",").string(uuids.next());
      }
      json.ascii("]}");
      return Reply.json(200, json)
          .with(HttpHeaders.CACHE_CONTROL, "no-cache")
          .with(HttpHeaders.createOptimized("Pragma"), "no-cache")
          .with(HttpHeaders.EXPIRES, LONG_AGO)
          .withEtag(uuids.next());
    }
  }

  /** {@code /{db}/_purge}. */
  private record PurgeResource(Catalogue catalogue, DocumentEditing writes) implements Resource {
    @Override
    public void serve(Exchange exchange) {
      if (exchange.method() != Method.POST) {
        throw Requests.notAllowed("POST");
      }
      Requests.wantJson(exchange);
      DatabaseName database = exchange.databaseName();
      exchange
          .body()
          .compose(body -> exchange.work(() -> parse(database, body)))
          .onComplete(
              edits ->
                  exchange.guarded(
                      () -> writes.submitAll(exchange, database, edits, PurgeResource::reply)),
              exchange::fail);
    }

    private List<Edit> parse(DatabaseName database, byte[] body) {
      DatabaseHandle db = catalogue.open(database);
      List<Edit> edits = new ArrayList<>(PurgeRequest.parse(body));
      edits.forEach(edit -> PartitionedId.check(db, edit.id()));
      return edits;
    }

    /** As in CouchDB, the purge sequence is null, and the worst status is that of the whole. */
    private static Reply reply(List<EditOutcome> outcomes) {
      JsonBuffer out = new JsonBuffer(64 + 64 * outcomes.size());
      out.ascii("{\"purge_seq\":null,\"purged\":{");
      int status = 201;
      String separator = "";
      for (EditOutcome outcome : outcomes) {
        out.ascii(separator).string(outcome.id()).octet(':');
        if (outcome instanceof EditOutcome.Purged purged) {
          RevisionText.appendAll(out, purged.revisions());
        } else {
          EditOutcome.Failed failed = (EditOutcome.Failed) outcome;
          status = Math.max(status, ErrorStatus.of(failed.error()));
          append(failed, out);
        }
        separator = ",";
      }
      return Reply.json(status, out.ascii("}}"));
    }

    private static void append(EditOutcome.Failed failed, JsonBuffer out) {
      out.ascii("{\"error\":").string(failed.error().error());
      out.ascii(",\"reason\":").string(failed.error().reason()).octet('}');
    }
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

  /** {@code /{db}/_bulk_get}. */
  private record BulkGetResource(BulkGet bulkGet) implements Resource {
    private static final List<String> MULTIPART = List.of("multipart/mixed", "multipart/related");

    /** Parameters that each element of {@code docs} has for itself. */
    private static final List<String> OF_SINGLE_DOCUMENTS =
        List.of("open_revs", "new_edits", "w", "rev", "atts_since");

    @Override
    public void serve(Exchange exchange) {
      if (exchange.method() != Method.POST) {
        throw Requests.notAllowed("POST");
      }
      Requests.wantJson(exchange);
      refuseParameters(exchange);
      Question question = question(exchange);
      Optional<String> multipart = multipart(exchange.accepts());
      if (multipart.isPresent()) {
        answer(exchange, question, multipart.get());
      } else {
        exchange.streamBody(body -> answer(question, body, new BulkGetJson()));
      }
    }

    /** The request without its body. */
    private record Question(
        DatabaseRequest database, boolean revs, boolean latest, AttachmentsShown attachments) {
      Question withFollowing() {
        return new Question(database, revs, latest, attachments.following());
      }
    }

    private Question question(Exchange exchange) {
      QueryParameters query = exchange.query();
      return new Question(
          exchange.database(),
          query.isTrue("revs"),
          query.isTrue("latest"),
          DocumentRetrieval.shown(query));
    }

    /** CouchDB prefers JSON here, and {@code multipart/mixed} among the other types. */
    private static Optional<String> multipart(AcceptedTypes accepted) {
      return accepted.include("application/json")
          ? Optional.empty()
          : MULTIPART.stream().filter(accepted::include).findFirst();
    }

    private void answer(Exchange exchange, Question question, String multipart) {
      Boundary boundary = Boundary.randomOfBulk();
      BulkGetForm form = new MultipartBulkGet(boundary);
      String contentType = boundary.contentType(multipart);
      exchange
          .body()
          .onComplete(
              body ->
                  exchange.streamTagged(
                      () ->
                          StreamedBody.of(
                              contentType, answer(question.withFollowing(), body, form))),
              exchange::fail);
    }

    private PagedBody answer(Question question, byte[] body, BulkGetForm form) {
      return bulkGet.answer(
          question.database(),
          body,
          question.revs(),
          question.latest(),
          question.attachments(),
          form);
    }

    private static void refuseParameters(Exchange exchange) {
      for (String name : OF_SINGLE_DOCUMENTS) {
        if (exchange.query().get(name) != null) {
          throw LectusException.badRequest("\"" + name + "\" query parameter is not acceptable");
        }
      }
    }
  }
}
