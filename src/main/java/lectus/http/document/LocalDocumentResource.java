package lectus.http.document;

import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;
import java.util.regex.Pattern;
import lectus.database.DatabaseRequest;
import lectus.document.list.LocalDocuments;
import lectus.error.LectusException;
import lectus.http.EntityTag;
import lectus.http.Method;
import lectus.http.Reply;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.json.JsonBuffer;

/**
 * {@code /{db}/_local/{id}}. A local document has no other revisions to ask for: as in CouchDB,
 * {@code rev} and {@code open_revs} refer to the documents that replicate.
 */
final class LocalDocumentResource implements Resource {
  private static final Pattern REVISION = Pattern.compile("[0-9]+-.*", Pattern.DOTALL);

  private final LocalDocuments documents;
  private final DocumentEditing writes;
  private final DocumentCopy copies;
  private final Resource replicating;

  /**
   * @param replicating the documents that replicate
   */
  LocalDocumentResource(
      LocalDocuments documents, DocumentCopy copies, DocumentEditing writes, Resource replicating) {
    this.replicating = replicating;
    this.documents = documents;
    this.writes = writes;
    this.copies = copies;
  }

  @Override
  public void serve(Exchange exchange) {
    DatabaseRequest database = exchange.database();
    String id = DocumentResource.idOf(exchange.segments());
    if (exchange.method() != Method.PUT) {
      SecretUsers.check(exchange, database.name(), id);
    }
    switch (exchange.method()) {
      case GET, HEAD -> get(exchange, database, id);
      case PUT -> writes.putLocal(exchange, database.name(), id);
      case COPY -> copies.copyLocal(exchange, database, id);
      case DELETE -> exchange.answer(() -> delete(exchange, database, id));
      case POST -> {
        FormUpload.check(exchange, id);
        throw LectusException.badRequest("Local documents have no attachments.");
      }
      default -> throw Requests.notAllowed(DocumentResource.METHODS);
    }
  }

  private void get(Exchange exchange, DatabaseRequest database, String id) {
    if (exchange.query().get("open_revs") != null) {
      replicating.serve(exchange);
      return;
    }
    if (!exchange.query().isTrue("latest")) {
      exchange.query().text("rev").ifPresent(LocalDocumentResource::refuse);
    }
    boolean revs = exchange.query().isTrue("revs");
    exchange.answer(() -> read(exchange, database, id, revs));
  }

  private static void refuse(String rev) {
    requireRevision(rev);
    throw LectusException.notFound("missing");
  }

  private static String requireRevision(String text) {
    if (!REVISION.matcher(text).matches()) {
      throw LectusException.badRequest("Invalid rev format");
    }
    return text;
  }

  private Reply read(Exchange exchange, DatabaseRequest database, String id, boolean revs) {
    JsonBuffer out = new JsonBuffer(512);
    String revision = documents.read(database, id, out);
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
    try {
      MessageDigest md5 = MessageDigest.getInstance("MD5");
      md5.update(json.array(), 0, json.length());
      return new BigInteger(1, md5.digest()).toString(Character.MAX_RADIX).toUpperCase(Locale.ROOT);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every JDK has MD5", e);
    }
  }

  /**
   * A document that does not exist is a 404 whatever the revision; one that exists is deleted
   * whatever its revision.
   */
  private Reply delete(Exchange exchange, DatabaseRequest database, String id) {
    if (DocumentEditing.namesRevision(exchange)) {
      documents.read(database, id, new JsonBuffer(512));
      DocumentEditing.givenRevision(exchange, LocalDocumentResource::requireRevision);
    }
    String revision = documents.delete(database.name(), id);
    JsonBuffer out = new JsonBuffer(96);
    WriteReply.appendStored(id, revision, out);
    return Reply.json(200, out);
  }
}
