package lectus.http.document;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseRequest;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.edit.NamedRevisions;
import lectus.document.read.DocumentReader;
import lectus.document.write.EditOutcome;
import lectus.error.LectusException;
import lectus.http.Reply;
import lectus.http.exchange.Exchange;
import lectus.json.JsonValue.JsonString;
import lectus.mango.query.BulkDeletion;
import lectus.mango.query.IndexDesign;
import lectus.revision.RevisionId;

/**
 * Removes indexes from their design documents, and design documents that describe none any more.
 */
final class IndexDeletions {
  private final Catalogue catalogue;
  private final DocumentReader documents;
  private final DocumentParser parser;
  private final DocumentEditing writes;

  IndexDeletions(
      Catalogue catalogue,
      DocumentReader documents,
      DocumentParser parser,
      DocumentEditing writes) {
    this.catalogue = catalogue;
    this.documents = documents;
    this.parser = parser;
    this.writes = writes;
  }

  /** Removes one index. */
  void delete(Exchange exchange, DatabaseRequest database, String design, String name) {
    exchange
        .work(() -> removal(database, design, Optional.of(name)))
        .onComplete(
            removal -> exchange.guarded(() -> write(exchange, database, removal)), exchange::fail);
  }

  private void write(
      Exchange exchange, DatabaseRequest database, Optional<InteractiveEdit> removal) {
    InteractiveEdit edit = removal.orElseThrow(() -> LectusException.notFound("missing"));
    writes.submit(
        exchange,
        database.name(),
        edit,
        edit.body().jsonBytes(),
        outcome ->
            outcome instanceof EditOutcome.Failed failed
                ? Reply.error(failed.error())
                : Reply.ok(200));
  }

  /**
   * Returns the edit that removes an index, or all of a design document; empty if there are none.
   */
  private Optional<InteractiveEdit> removal(
      DatabaseRequest database, String design, Optional<String> name) {
    List<String> removed =
        catalogue.open(database.name()).indexes().definedBy(design).stream()
            .map(it -> it.definition().name())
            .filter(it -> name.isEmpty() || name.get().equals(it))
            .toList();
    Optional<IndexDesign> rest =
        removed.isEmpty()
            ? Optional.empty()
            : IndexResource.readDesign(documents, database, design);
    for (String each : removed) {
      rest = rest.flatMap(it -> it.without(each));
    }
    return rest.map(it -> edit(design, it));
  }

  private InteractiveEdit edit(String design, IndexDesign rest) {
    return rest.isEmpty()
        ? InteractiveEdit.deletion(design, rest.revision().map(RevisionId::of))
        : parser.interactive(design, NamedRevisions.NONE, rest.json());
  }

  /** Removes all indexes of some design documents. */
  void deleteAll(Exchange exchange, DatabaseRequest database) {
    exchange
        .body()
        .compose(body -> exchange.work(() -> removals(database, BulkDeletion.parse(body))))
        .onComplete(
            removals -> exchange.guarded(() -> writeAll(exchange, database, removals)),
            exchange::fail);
  }

  /**
   * @param missing design documents that describe no index
   */
  private record Removals(List<Edit> edits, List<String> missing) {}

  private Removals removals(DatabaseRequest database, List<String> designs) {
    List<Edit> edits = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    for (String design : designs) {
      removal(database, design, Optional.empty())
          .ifPresentOrElse(edits::add, () -> missing.add(design));
    }
    return new Removals(edits, missing);
  }

  private void writeAll(Exchange exchange, DatabaseRequest database, Removals removals) {
    if (removals.edits().isEmpty()) {
      exchange.reply(reply(removals.missing(), List.of()));
    } else {
      writes.submitAll(
          exchange,
          database.name(),
          removals.edits(),
          outcomes -> reply(removals.missing(), outcomes));
    }
  }

  private static Reply reply(List<String> missing, List<EditOutcome> outcomes) {
    List<String> done = new ArrayList<>();
    List<String> failed = new ArrayList<>();
    missing.forEach(id -> failed.add(row(id, "\"error\":\"not_found\"")));
    for (EditOutcome outcome : outcomes) {
      if (outcome instanceof EditOutcome.Failed failure) {
        failed.add(row(failure.id(), "\"error\":\"" + failure.error().error() + "\""));
      } else {
        done.add(row(outcome.id(), "\"ok\":true"));
      }
    }
    String json =
        "{\"success\":["
            + String.join(",", done)
            + "],\"fail\":["
            + String.join(",", failed)
            + "]}";
    return Reply.json(200, json);
  }

  private static String row(String id, String rest) {
    return "{\"id\":" + new JsonString(id).toJson() + "," + rest + "}";
  }
}
