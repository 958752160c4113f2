package lectus.http.document;

import io.vertx.core.http.HttpHeaders;
import java.net.URI;
import java.net.URISyntaxException;
import lectus.document.DocumentId;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.PublicAddress;
import lectus.http.exchange.Requests;
import lectus.http.message.FormParts;

/**
 * POST to a document: a browser's form with attachments for it. Browsers send such a form to any
 * server without asking, so CouchDB requires it to come from a page of its own.
 */
final class PostedForm {
  private PostedForm() {}

  /**
   * @throws LectusException CouchDB's reasons to refuse the form
   */
  static void check(Exchange exchange, String id) {
    requireOwnPage(exchange);
    DocumentId.check(id, Integer.MAX_VALUE);
    Requests.wantContentType(exchange, FormParts.MEDIA_TYPE);
  }

  private static void requireOwnPage(Exchange exchange) {
    String referer = exchange.header(HttpHeaders.REFERER);
    if (referer == null) {
      throw LectusException.badRequest("Referer header required.");
    }
    if (!hostOf(referer).equals(PublicAddress.host(exchange))) {
      throw LectusException.badRequest("Referer header must match host.");
    }
  }

  private static String hostOf(String referer) {
    try {
      String authority = new URI(referer).getRawAuthority();
      return authority == null ? "" : authority;
    } catch (URISyntaxException e) {
      return "";
    }
  }
}
