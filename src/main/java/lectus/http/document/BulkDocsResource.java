package lectus.http.document;

import java.util.List;
import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.document.PartitionedId;
import lectus.document.edit.BulkEdits;
import lectus.document.edit.DocumentParser;
import lectus.document.write.EditOutcome;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.Services;
import lectus.http.Writes;
import lectus.http.Writes.Completion;
import lectus.http.exchange.DatabaseNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.ErrorStatus;
import lectus.http.message.Method;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/** {@code /{db}/_bulk_docs}. */
final class BulkDocsResource implements Resource {
  private final Catalogue catalogue;
  private final DocumentParser parser;
  private final Writes writes;
  private final DatabaseNames names;
  private final Uuids uuids;

  BulkDocsResource(Services services, DatabaseNames names, Uuids uuids) {
    this.catalogue = services.catalogue();
    this.parser = services.parser();
    this.writes = services.writes();
    this.names = names;
    this.uuids = uuids;
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
            parsed -> exchange.guarded(() -> write(exchange, database, parsed)), exchange::fail);
  }

  private record Parsed(BulkEdits bulk, long memory) {}

  private Parsed parse(DatabaseName database, byte[] body) {
    BulkEdits bulk = BulkEdits.parse(parser, body, uuids::next);
    Optional<LectusError> problem =
        bulk.edits().stream()
            .flatMap(edit -> PartitionedId.problem(edit.id()).stream())
            .findFirst();
    if (bulk.edits().isEmpty() || problem.isPresent()) {
      checkIds(catalogue.open(database), problem);
    }
    return new Parsed(bulk, DocumentWrites.memoryOf(body.length, bulk.edits().size()));
  }

  /** As in CouchDB one id without a partition refuses the whole request. */
  private static void checkIds(DatabaseHandle db, Optional<LectusError> problem) {
    if (db.configuration().partitioned() && problem.isPresent()) {
      throw new LectusException(problem.get());
    }
  }

  private void write(Exchange exchange, DatabaseName database, Parsed parsed) {
    BulkEdits bulk = parsed.bulk();
    Completion completion = new BulkAnswering(exchange, bulk);
    if (bulk.edits().isEmpty()) {
      completion.written(List.of());
    } else if (bulk.atomic()) {
      writes.writeAtomically(database, bulk.edits(), parsed.memory(), completion);
    } else {
      writes.writeAll(database, bulk.edits(), parsed.memory(), completion);
    }
  }

  /** Answers the request when all of its edits are done. */
  private record BulkAnswering(Exchange exchange, BulkEdits bulk) implements Completion {
    @Override
    public void written(List<EditOutcome> outcomes) {
      Reply reply = Reply.json(status(outcomes), json(outcomes));
      exchange.context().runOnContext(none -> exchange.reply(reply));
    }

    @Override
    public void failed(Throwable failure) {
      exchange.context().runOnContext(none -> exchange.fail(failure));
    }

    /** Of an atomic request that failed, the worst of what befell its edits. */
    private int status(List<EditOutcome> outcomes) {
      if (!bulk.atomic()) {
        return 201;
      }
      return outcomes.stream()
          .filter(EditOutcome.Failed.class::isInstance)
          .mapToInt(failed -> ErrorStatus.of(((EditOutcome.Failed) failed).error()))
          .max()
          .orElse(201);
    }

    private JsonBuffer json(List<EditOutcome> outcomes) {
      JsonBuffer out = new JsonBuffer(16 + 96 * outcomes.size()).octet('[');
      int start = out.length();
      for (EditOutcome outcome : outcomes) {
        int before = out.length();
        if (before > start) {
          out.octet(',');
        }
        if (!append(outcome, out)) {
          out.truncate(before);
        }
      }
      return out.octet(']');
    }

    /** Whether there is anything to say: of replicated edits only errors are listed. */
    private boolean append(EditOutcome outcome, JsonBuffer out) {
      if (outcome instanceof EditOutcome.Failed failed) {
        EditReplies.appendFailed(failed, out);
        return true;
      }
      if (outcome instanceof EditOutcome.Withheld withheld) {
        EditReplies.appendWithheld(withheld, out);
        return true;
      }
      if (bulk.newEdits() && outcome instanceof EditOutcome.Written written) {
        EditReplies.appendStored(written.id(), written.revision().toString(), out);
        return true;
      }
      return false;
    }
  }
}
