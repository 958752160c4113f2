package lectus.http.document;

import io.vertx.core.http.HttpHeaders;
import java.net.URI;
import java.net.URISyntaxException;
import lectus.document.DocumentId;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.PublicAddress;
import lectus.http.exchange.Requests;

/**
 * POST to a document: a browser's form with attachments for it. Browsers send such a form to any
 * server without asking, so CouchDB requires it to come from a page of its own.
 */
final class PostedForm {
  private PostedForm() {}

  /**
   * Returns why the form is refused: first CouchDB's reasons, then that attachments are not
   * implemented.
   */
  static LectusException refusal(Exchange exchange, String id) {
    requireOwnPage(exchange);
    DocumentId.check(id, Integer.MAX_VALUE);
    Requests.wantContentType(exchange, "multipart/form-data");
    return Requests.notImplemented("Attachments are a part of CouchDB that Lectus does not have.");
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
