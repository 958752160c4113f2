package lectus.http.document;

import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;
import lectus.database.DatabaseName;
import lectus.document.local.LocalDocuments;
import lectus.http.Services;
import lectus.http.exchange.DatabaseNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.EntityTag;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/** {@code /{db}/_local/{id}}. */
final class LocalDocumentResource implements Resource {
  private final LocalDocuments documents;
  private final DocumentWrites writes;
  private final DocumentCopy copies;
  private final DatabaseNames names;

  LocalDocumentResource(Services services, DatabaseNames names, DocumentWrites writes) {
    this.documents = services.localDocuments();
    this.writes = writes;
    this.copies = new DocumentCopy(services, writes);
    this.names = names;
  }

  @Override
  public void serve(Exchange exchange) {
    DatabaseName database = names.of(exchange);
    String id = DocumentNames.idOf(exchange.segments());
    switch (exchange.method()) {
      case GET, HEAD -> exchange.answer(() -> get(exchange, database, id));
      case PUT -> writes.putLocal(exchange, database, id);
      case COPY -> copies.copyLocal(exchange, database, id);
      case DELETE -> exchange.answer(() -> written(200, id, documents.delete(database, id)));
      default -> throw Requests.notAllowed("DELETE,GET,HEAD,POST,PUT,COPY");
    }
  }

  private Reply get(Exchange exchange, DatabaseName database, String id) {
    JsonBuffer out = new JsonBuffer(512);
    documents.read(database, id, out);
    String tag = digest(out);
    boolean unchanged = exchange.hasSeen(new EntityTag(tag));
    return (unchanged ? Reply.empty(304) : Reply.json(200, out)).withEtag(tag);
  }

  /** A revision of a local document may come again with another body, so the body is the tag. */
  private static String digest(JsonBuffer json) {
    try {
      MessageDigest md5 = MessageDigest.getInstance("MD5");
      md5.update(json.array(), 0, json.length());
      return new BigInteger(1, md5.digest()).toString(Character.MAX_RADIX).toUpperCase(Locale.ROOT);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every JDK has MD5", e);
    }
  }

  private static Reply written(int status, String id, String revision) {
    JsonBuffer out = new JsonBuffer(96);
    EditReplies.appendStored(id, revision, out);
    return Reply.json(status, out).withEtag(revision);
  }
}
