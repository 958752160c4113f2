package lectus.http.document;

import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import java.util.Optional;
import lectus.http.exchange.Exchange;
import lectus.http.multipart.RelatedDocument;

/** The JSON of a document in a request: its body, or the only part of its body. */
final class DocumentBody {
  private DocumentBody() {}

  static Future<byte[]> of(Exchange exchange) {
    Optional<RelatedDocument> related =
        RelatedDocument.in(exchange.header(HttpHeaders.CONTENT_TYPE));
    return related.isPresent()
        ? exchange.bodyPart(whole -> related.get().json(whole))
        : exchange.body();
  }
}
