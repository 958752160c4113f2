package lectus.http.document;

import java.util.ArrayList;
import java.util.List;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.document.PartitionedId;
import lectus.document.edit.Edit;
import lectus.document.write.EditOutcome;
import lectus.document.write.PurgeRequest;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.ErrorStatus;
import lectus.http.message.Method;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionText;

/** {@code /{db}/_purge}. */
final class PurgeResource implements Resource {
  private final Catalogue catalogue;
  private final DocumentEditing writes;
  private final CheckedNames names;

  PurgeResource(Catalogue catalogue, DocumentEditing writes, CheckedNames names) {
    this.catalogue = catalogue;
    this.writes = writes;
    this.names = names;
  }

  @Override
  public void serve(Exchange exchange) {
    if (exchange.method() != Method.POST) {
      throw Requests.notAllowed("POST");
    }
    Requests.wantJson(exchange);
    DatabaseName database = names.of(exchange);
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
