package lectus.http.document;

import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseRequest;
import lectus.document.AttachmentsShown;
import lectus.document.PagedBody;
import lectus.document.read.BulkGet;
import lectus.document.read.BulkGetForm;
import lectus.document.read.BulkGetJson;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.StreamedBody;
import lectus.http.message.AcceptedTypes;
import lectus.http.message.Boundary;
import lectus.http.message.Method;
import lectus.http.message.MultipartBulkGet;
import lectus.http.message.QueryParameters;

/** {@code /{db}/_bulk_get}. */
record BulkGetResource(BulkGet bulkGet) implements Resource {
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
                        StreamedBody.of(contentType, answer(question.withFollowing(), body, form))),
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
