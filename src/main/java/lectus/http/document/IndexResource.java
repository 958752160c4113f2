package lectus.http.document;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseRequest;
import lectus.derived.IndexDefinition;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.edit.NamedRevisions;
import lectus.document.read.DocumentQuery;
import lectus.document.write.EditOutcome;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.QueryParameters;
import lectus.http.Reply;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.Services.Documents;
import lectus.json.ExplodedBody;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue.JsonString;
import lectus.mango.query.BulkDeletion;
import lectus.mango.query.IndexDesign;
import lectus.mango.query.IndexListJson;
import lectus.mango.query.IndexRequest;
import lectus.mango.query.IndexRequest.DesignNames;
import lectus.revision.RevisionId;

/**
 * {@code /{db}/_index}: as in CouchDB, an index is a view of a design document, which this writes
 * as any client could.
 */
final class IndexResource implements Resource {
  private static final String OF_JSON = "json";

  private final Catalogue catalogue;
  private final Documents documents;
  private final IndexListJson list;
  private final DocumentEditing writes;

  IndexResource(
      Catalogue catalogue, Documents documents, IndexListJson list, DocumentEditing writes) {
    this.catalogue = catalogue;
    this.documents = documents;
    this.list = list;
    this.writes = writes;
  }

  @Override
  public void serve(Exchange exchange) {
    DatabaseRequest database = exchange.database();
    List<String> below = below(exchange.target().segments());
    if (below.isEmpty()) {
      serveAll(exchange, database);
    } else if (below.equals(List.of("_bulk_delete"))) {
      Requests.wantPostOfJson(exchange);
      deleteAll(exchange, database);
    } else if (below.size() == 3) {
      Requests.allow(exchange, "DELETE");
      if (!below.get(1).equals(OF_JSON)) {
        throw LectusException.notFound("missing");
      }
      delete(exchange, database, DesignNames.idOf(below.get(0)), below.get(2));
    } else {
      throw LectusException.notFound("missing");
    }
  }

  /** Returns the names behind {@code _index}; a design document's id may be one or two of them. */
  private static List<String> below(List<String> segments) {
    List<String> below = new ArrayList<>(segments.subList(2, segments.size()));
    if (below.size() == 4 && below.get(0).equals("_design")) {
      below.set(1, below.get(0) + "/" + below.get(1));
      below.remove(0);
    }
    return below;
  }

  private void serveAll(Exchange exchange, DatabaseRequest database) {
    switch (exchange.method()) {
      case GET, HEAD -> {
        ListParameters parameters = ListParameters.of(exchange.query());
        exchange.answer(
            () -> Reply.json(200, list.of(database, parameters.skip(), parameters.limit())));
      }
      case POST -> {
        Requests.wantJson(exchange);
        exchange
            .jsonBody()
            .compose(body -> exchange.work(() -> prepare(database, IndexRequest.parse(body))))
            .onComplete(
                prepared -> exchange.guarded(() -> write(exchange, database, prepared)),
                exchange::fail);
      }
      default -> throw Requests.notAllowed("GET,POST");
    }
  }

  /**
   * @param edit empty: the index is there already
   */
  private record Prepared(IndexRequest request, Optional<InteractiveEdit> edit) {}

  private Prepared prepare(DatabaseRequest database, IndexRequest request) {
    IndexDesign stored =
        readDesign(database, request.index().design()).orElseGet(IndexDesign::fresh);
    IndexDesign changed = stored.with(request);
    byte[] json = changed.json();
    InteractiveEdit edit =
        documents.parser().interactive(request.index().design(), NamedRevisions.NONE, json);
    if (isThere(database, request, stored, edit)) {
      return new Prepared(request, Optional.empty());
    }
    checkRoom(database);
    return new Prepared(request, Optional.of(edit));
  }

  /** A design document that is stored, but of which there is no index, is written again. */
  private boolean isThere(
      DatabaseRequest database, IndexRequest request, IndexDesign stored, InteractiveEdit edit) {
    boolean isListed =
        catalogue.open(database.name()).indexes().definedBy(request.index().design()).stream()
            .anyMatch(it -> it.definition().name().equals(request.index().name()));
    return isListed && stored.isLike(designOf(edit.body()));
  }

  private void checkRoom(DatabaseRequest database) {
    if (catalogue.open(database.name()).indexes().all().size() >= IndexDefinition.MAX_INDEXES) {
      throw LectusException.badRequest(
          "too_many_indexes",
          "A database has at most " + IndexDefinition.MAX_INDEXES + " indexes.");
    }
  }

  private void write(Exchange exchange, DatabaseRequest database, Prepared prepared) {
    if (prepared.edit().isEmpty()) {
      exchange.reply(reply(prepared.request(), "exists"));
      return;
    }
    writes.submit(
        exchange,
        database.name(),
        prepared.edit().get(),
        outcome ->
            outcome instanceof EditOutcome.Failed failed
                ? Reply.error(failed.error())
                : reply(prepared.request(), "created"));
  }

  private static Reply reply(IndexRequest request, String result) {
    JsonBuffer out = new JsonBuffer(128).ascii("{\"result\":").string(result);
    out.ascii(",\"id\":").string(request.index().design());
    return Reply.json(200, out.ascii(",\"name\":").string(request.index().name()).octet('}'));
  }

  /**
   * Removes an index from its design document, or the design document if that describes no other.
   */
  void delete(Exchange exchange, DatabaseRequest database, String design, String name) {
    exchange
        .work(() -> removal(database, design, Optional.of(name)))
        .onComplete(
            removal -> exchange.guarded(() -> remove(exchange, database, removal)), exchange::fail);
  }

  private void remove(
      Exchange exchange, DatabaseRequest database, Optional<InteractiveEdit> removal) {
    InteractiveEdit edit = removal.orElseThrow(() -> LectusException.notFound("missing"));
    writes.submit(
        exchange,
        database.name(),
        edit,
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
        removed.isEmpty() ? Optional.empty() : readDesign(database, design);
    for (String each : removed) {
      rest = rest.flatMap(it -> it.without(each));
    }
    return rest.map(it -> without(design, it));
  }

  private InteractiveEdit without(String design, IndexDesign rest) {
    return rest.isEmpty()
        ? InteractiveEdit.deletion(design, rest.revision().map(RevisionId::of))
        : documents.parser().interactive(design, NamedRevisions.NONE, rest.json());
  }

  /** Removes all indexes of some design documents. */
  void deleteAll(Exchange exchange, DatabaseRequest database) {
    exchange
        .jsonBody()
        .compose(body -> exchange.work(() -> removals(database, BulkDeletion.parse(body))))
        .onComplete(
            removals -> exchange.guarded(() -> removeAll(exchange, database, removals)),
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

  private void removeAll(Exchange exchange, DatabaseRequest database, Removals removals) {
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

  /**
   * Which part of a list of indexes is asked for.
   *
   * @param limit empty: all
   */
  private record ListParameters(long skip, Optional<Long> limit) {
    private static final int MAX_DIGITS = 18;

    /** As in CouchDB, a semicolon separates parameters, too. */
    static ListParameters of(QueryParameters query) {
      Optional<Long> skip = Optional.empty();
      Optional<Long> limit = Optional.empty();
      for (var parameter : query.asMap().entrySet()) {
        String[] pairs = (parameter.getKey() + "=" + parameter.getValue()).split(";");
        for (String pair : pairs) {
          if (pair.startsWith("skip=")) {
            skip = Optional.of(number(pair));
          } else if (pair.startsWith("limit=")) {
            limit = Optional.of(number(pair));
          }
        }
      }
      if (limit.filter(it -> it < 1).isPresent() || skip.filter(it -> it < 0).isPresent()) {
        throw outOfRange();
      }
      return new ListParameters(skip.orElse(0L), limit);
    }

    private static long number(String pair) {
      String text = pair.substring(pair.indexOf('=') + 1);
      if (!text.matches("[+-]?[0-9]{1," + MAX_DIGITS + "}")) {
        throw outOfRange();
      }
      return Long.parseLong(text);
    }

    private static LectusException outOfRange() {
      return LectusException.badRequest(
          "invalid_list_index_params", "Index parameter ranges: limit > 1, skip > 0");
    }
  }

  /** Returns the design document of an index; empty if it is not there. */
  private Optional<IndexDesign> readDesign(DatabaseRequest database, String id) {
    JsonBuffer json = new JsonBuffer(1_024);
    try {
      documents.reader().read(database, id, DocumentQuery.DEFAULT, json);
    } catch (LectusException missing) {
      if (isOfDocument(missing.error())) {
        return Optional.empty();
      }
      throw missing;
    }
    return Optional.of(IndexDesign.of(json.toBytes()));
  }

  private static boolean isOfDocument(LectusError error) {
    return error instanceof LectusError.NotFound
        && (error.reason().equals("missing") || error.reason().equals("deleted"));
  }

  /** Returns the document with this body as it will be read once it is stored. */
  private static IndexDesign designOf(ExplodedBody body) {
    JsonBuffer json = new JsonBuffer(256).octet('{');
    body.appendTo(json);
    return IndexDesign.of(json.octet('}').toBytes());
  }
}
