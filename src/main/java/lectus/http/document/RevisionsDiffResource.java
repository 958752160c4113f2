package lectus.http.document;

import lectus.database.AskedDatabase;
import lectus.document.read.RevisionsDiff;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Method;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/** {@code /{db}/_revs_diff} and its older form {@code /{db}/_missing_revs}. */
final class RevisionsDiffResource implements Resource {
  private final RevisionsDiff diff;
  private final CheckedNames names;
  private final boolean missingOnly;

  RevisionsDiffResource(RevisionsDiff diff, CheckedNames names, boolean missingOnly) {
    this.diff = diff;
    this.names = names;
    this.missingOnly = missingOnly;
  }

  @Override
  public void serve(Exchange exchange) {
    if (exchange.method() != Method.POST) {
      throw Requests.notAllowed("POST");
    }
    Requests.wantJson(exchange);
    AskedDatabase database = names.asked(exchange);
    exchange.answerBody(body -> Reply.json(200, answer(database, body)));
  }

  private JsonBuffer answer(AskedDatabase database, byte[] body) {
    JsonBuffer out = new JsonBuffer(1_024);
    if (missingOnly) {
      diff.missingRevs(database, body, out);
    } else {
      diff.revsDiff(database, body, out);
    }
    return out;
  }
}
