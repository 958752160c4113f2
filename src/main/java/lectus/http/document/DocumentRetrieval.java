package lectus.http.document;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.attachment.ContentId;
import lectus.database.DatabaseRequest;
import lectus.document.AttachmentsShown;
import lectus.document.RequestJson;
import lectus.document.read.DocumentQuery;
import lectus.document.read.DocumentReader;
import lectus.document.read.DocumentReader.OpenRevisionsForm;
import lectus.document.read.DocumentWithBytes;
import lectus.document.read.OpenRevisions;
import lectus.document.read.OpenRevisions.OpenRevisionsJson;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.Boundary;
import lectus.http.EntityTag;
import lectus.http.Headers;
import lectus.http.JsonStrings;
import lectus.http.MultipartOpenRevisions;
import lectus.http.QueryParameters;
import lectus.http.Reply;
import lectus.http.document.SecretDocuments.Shown;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.StreamedBody;
import lectus.json.FieldPath;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.revision.RevisionId;

/** GET of a document. */
final class DocumentRetrieval {
  private static final int TYPICAL_BYTES = 1_024;
  private static final String MULTIPART = "multipart/mixed";
  private static final String RELATED = "multipart/related";

  private final DocumentReader documents;

  DocumentRetrieval(DocumentReader documents) {
    this.documents = documents;
  }

  void get(Exchange exchange, DatabaseRequest database, String id) {
    QueryParameters query = exchange.query();
    if (query.isEmpty()) {
      getHot(exchange, database, id);
      return;
    }
    Optional<OpenRevisions> open = openRevisions(query);
    if (open.isPresent()) {
      openRevisions(exchange, database, id, open.get());
    } else if (DocumentRetrieval.shown(query).showsBytes()) {
      readWithBytes(exchange, database, id, options(query), !showsMeta(query));
    } else {
      read(exchange, database, id, options(query), !showsMeta(query));
    }
  }

  /**
   * Answers with as much of a document as is shown to whoever asks. As in CouchDB, a document of
   * which nothing is shown cannot be told from one that does not exist.
   */
  void getShown(Exchange exchange, DatabaseRequest database, String id, Shown shown) {
    QueryParameters query = exchange.query();
    if (openRevisions(query).isPresent()) {
      throw LectusException.notFound("missing");
    }
    DocumentQuery options = options(query).showing(AttachmentsShown.STUBS);
    exchange.answer(() -> shown(database, id, options, shown));
  }

  private Reply shown(DatabaseRequest database, String id, DocumentQuery options, Shown shown) {
    JsonBuffer out = new JsonBuffer(TYPICAL_BYTES);
    try {
      documents.read(database, id, options, out);
    } catch (LectusException gone) {
      throw gone.error().equals(new LectusError.NotFound("deleted"))
          ? LectusException.notFound("missing")
          : gone;
    }
    return Reply.json(
        200, shown.of(out.toBytes()).orElseThrow(() -> LectusException.notFound("missing")));
  }

  /**
   * A document in memory is answered at once, without the hand-over to a reader's thread and back.
   */
  private void getHot(Exchange exchange, DatabaseRequest database, String id) {
    JsonBuffer out = new JsonBuffer(TYPICAL_BYTES);
    documents
        .readHot(database, id, out)
        .ifPresentOrElse(
            revision -> exchange.reply(tagged(exchange, revision, out)),
            () -> read(exchange, database, id, DocumentQuery.DEFAULT, true));
  }

  private void read(
      Exchange exchange,
      DatabaseRequest database,
      String id,
      DocumentQuery options,
      boolean tagged) {
    exchange.answer(
        () -> {
          JsonBuffer out = new JsonBuffer(TYPICAL_BYTES);
          RevisionId revision = documents.read(database, id, options, out);
          return tagged ? tagged(exchange, revision, out) : Reply.json(200, out);
        });
  }

  /** As in CouchDB, the bytes follow the document for all who accept that. */
  private void readWithBytes(
      Exchange exchange,
      DatabaseRequest database,
      String id,
      DocumentQuery options,
      boolean tagged) {
    boolean follow = exchange.accepts().include(RELATED);
    DocumentQuery query = follow ? options.showing(options.attachments().following()) : options;
    Boundary boundary = Boundary.random();
    exchange.streamTagged(
        () -> {
          DocumentWithBytes read = documents.readWithBytes(database, id, query, boundary.text());
          Optional<EntityTag> tag =
              tagged ? Optional.of(new EntityTag(read.revision().toString())) : Optional.empty();
          CharSequence type = read.isRelated() ? boundary.contentType(RELATED) : Headers.JSON;
          return new StreamedBody(200, type, () -> tag, List.of(), read.length(), read.body());
        });
  }

  private static Reply tagged(Exchange exchange, RevisionId revision, JsonBuffer out) {
    String rev = revision.toString();
    boolean unchanged = exchange.hasSeen(new EntityTag(rev));
    return (unchanged ? Reply.empty(304) : Reply.json(200, out)).withEtag(rev);
  }

  /** JSON is only for clients that do not accept {@code multipart/mixed}, as in CouchDB. */
  private void openRevisions(
      Exchange exchange, DatabaseRequest database, String id, OpenRevisions which) {
    if (exchange.accepts().include(MULTIPART)) {
      Boundary boundary = Boundary.random();
      OpenRevisionsForm form = new MultipartOpenRevisions(boundary);
      exchange.streamTagged(
          () ->
              StreamedBody.of(
                  boundary.contentType(MULTIPART),
                  documents.openRevisions(database, id, which.withFollowing(), form)));
    } else {
      exchange.stream(() -> documents.openRevisions(database, id, which, new OpenRevisionsJson()));
    }
  }

  private static Optional<OpenRevisions> openRevisions(QueryParameters query) {
    return query
        .text("open_revs")
        .flatMap(
            which ->
                OpenRevisions.parse(
                    which,
                    query.isTrue("latest"),
                    query.isTrue("revs"),
                    DocumentRetrieval.shown(query)));
  }

  private static DocumentQuery options(QueryParameters query) {
    DocumentQuery options =
        new DocumentQuery(
            revision(query),
            query.isTrue("revs"),
            query.isTrue("revs_info"),
            query.isTrue("conflicts"),
            query.isTrue("deleted_conflicts"),
            query.isTrue("local_seq"),
            fields(query),
            DocumentRetrieval.shown(query));
    return query.isTrue("meta") ? options.withMeta() : options;
  }

  /** With {@code latest} CouchDB reads the winner, whatever the revision. */
  private static Optional<RevisionId> revision(QueryParameters query) {
    Optional<RevisionId> revision = query.text("rev").map(RevisionId::of);
    return query.isTrue("latest") ? Optional.empty() : revision;
  }

  private static List<FieldPath> fields(QueryParameters query) {
    String json = query.get("fields");
    return json == null ? List.of() : FieldPath.parseAll(JsonStrings.parse(json, "fields"));
  }

  /**
   * Whether the answer shows what can change while the document's revision stays; such an answer
   * has no ETag.
   */
  private static boolean showsMeta(QueryParameters query) {
    return query.isTrue("revs_info")
        || query.isTrue("conflicts")
        || query.isTrue("deleted_conflicts")
        || query.isTrue("meta")
        || query.isTrue("local_seq");
  }

  /**
   * Returns how a request wants attachments to be shown.
   *
   * @throws LectusException {@code bad_request}: {@code atts_since} is no list of revisions, or
   *     {@code atts_held} none of digests
   */
  static AttachmentsShown shown(QueryParameters query) {
    Optional<List<RevisionId>> since = query.text("atts_since").map(DocumentRetrieval::revisions);
    boolean withBytes = query.isTrue("attachments") || since.isPresent();
    return new AttachmentsShown(
        withBytes ? AttachmentsShown.Bytes.INLINE : AttachmentsShown.Bytes.NONE,
        query.isTrue("att_encoding_info"),
        since,
        query.text("atts_held").map(DocumentRetrieval::contents).orElse(Set.of()));
  }

  private static Set<ContentId> contents(String json) {
    Set<ContentId> contents = new HashSet<>();
    for (String digest : JsonStrings.parse(json, "atts_held")) {
      contents.add(
          ContentId.ofDigest(digest)
              .orElseThrow(
                  () -> LectusException.badRequest("`atts_held` has digests such as sha256-….")));
    }
    return contents;
  }

  private static List<RevisionId> revisions(String json) {
    if (!(RequestJson.ofParameter(json) instanceof JsonValue.JsonArray array)) {
      throw LectusException.badRequest("Invalid list of revisions");
    }
    return RequestJson.revisions(array);
  }
}
