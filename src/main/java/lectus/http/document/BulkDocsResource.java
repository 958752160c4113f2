package lectus.http.document;

import java.util.List;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.document.PartitionedId;
import lectus.document.edit.BulkEdits;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.write.Writes;
import lectus.document.write.Writes.Completion;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.memory.ParsedMemory;
import lectus.http.message.Method;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/** {@code /{db}/_bulk_docs}. */
final class BulkDocsResource implements Resource {
  private static final int EXPECTATION_FAILED = 417;

  /** How CouchDB prints the missing revision of a document. */
  private static final String NO_BASE = "0-";

  private final Catalogue catalogue;
  private final DocumentParser parser;
  private final Writes writes;
  private final EditPreparation preparation;
  private final CheckedNames names;
  private final Uuids uuids;

  BulkDocsResource(
      Catalogue catalogue,
      DocumentParser parser,
      Writes writes,
      EditPreparation preparation,
      CheckedNames names,
      Uuids uuids) {
    this.catalogue = catalogue;
    this.parser = parser;
    this.writes = writes;
    this.preparation = preparation;
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
        .compose(body -> exchange.parse(memory -> parse(database, body, memory)))
        .onComplete(
            parsed -> exchange.guarded(() -> sign(exchange, database, parsed)), exchange::fail);
  }

  private void sign(Exchange exchange, DatabaseName database, Parsed parsed) {
    preparation
        .prepareAll(exchange, database, parsed.bulk().edits())
        .map(parsed::with)
        .onComplete(
            prepared -> exchange.guarded(() -> write(exchange, database, prepared)),
            exchange::fail);
  }

  private record Parsed(BulkEdits bulk, long memory) {
    private Parsed with(List<Edit> edits) {
      return new Parsed(new BulkEdits(edits, bulk.refused(), bulk.newEdits(), bulk.mode()), memory);
    }
  }

  private Parsed parse(DatabaseName database, byte[] body, ParsedMemory memory) {
    DatabaseHandle db = catalogue.open(database);
    BulkEdits bulk =
        BulkEdits.parse(parser, body, uuids::next, id -> PartitionedId.check(db, id), memory::add);
    long jsonBytes = bulk.edits().stream().mapToLong(edit -> edit.body().jsonBytes()).sum();
    return new Parsed(bulk, DocumentEditing.memoryOf(jsonBytes, bulk.edits().size()));
  }

  private void write(Exchange exchange, DatabaseName database, Parsed parsed) {
    BulkEdits bulk = parsed.bulk();
    Completion completion = preparation.completing(database, new BulkAnswering(exchange, bulk));
    if (bulk.edits().isEmpty()) {
      completion.written(List.of());
      return;
    }
    switch (bulk.mode()) {
      case EACH_ALONE -> writes.writeAll(database, bulk.edits(), parsed.memory(), completion);
      case ATOMIC -> writes.writeAtomically(database, bulk.edits(), parsed.memory(), completion);
      case ALL_OR_NOTHING -> exchange.reply(allOrNothing(bulk.edits()));
    }
  }

  /**
   * CouchDB 1.x stored conflicts for {@code all_or_nothing}; clusters of later versions refuse
   * every document.
   */
  private static Reply allOrNothing(List<Edit> edits) {
    JsonBuffer out = new JsonBuffer(16 + 128 * edits.size()).octet('[');
    String separator = "";
    for (Edit edit : edits) {
      out.ascii(separator).ascii("{\"id\":").string(edit.id());
      out.ascii(",\"rev\":").string(baseOf(edit)).ascii(",\"error\":\"not_implemented\"");
      out.ascii(",\"reason\":\"all_or_nothing is not supported\"}");
      separator = ",";
    }
    return Reply.json(EXPECTATION_FAILED, out.octet(']'));
  }

  private static String baseOf(Edit edit) {
    return edit instanceof InteractiveEdit document && document.base().isPresent()
        ? document.base().get().toString()
        : NO_BASE;
  }
}
