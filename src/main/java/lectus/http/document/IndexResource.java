package lectus.http.document;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseRequest;
import lectus.derived.IndexDefinition;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.InteractiveEdit;
import lectus.document.edit.NamedRevisions;
import lectus.document.read.DocumentQuery;
import lectus.document.read.DocumentReader;
import lectus.document.write.EditOutcome;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.Method;
import lectus.http.QueryParameters;
import lectus.http.Reply;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.json.ExplodedBody;
import lectus.json.JsonBuffer;
import lectus.mango.query.IndexDesign;
import lectus.mango.query.IndexListJson;
import lectus.mango.query.IndexRequest;
import lectus.mango.query.IndexRequest.DesignNames;

/**
 * {@code /{db}/_index}: as in CouchDB, an index is a view of a design document, which this writes
 * as any client could.
 */
final class IndexResource implements Resource {
  private static final String OF_JSON = "json";

  private final Catalogue catalogue;
  private final DocumentReader documents;
  private final DocumentParser parser;
  private final IndexListJson list;
  private final IndexDeletions deletions;
  private final DocumentEditing writes;

  IndexResource(
      Catalogue catalogue,
      DocumentReader documents,
      DocumentParser parser,
      IndexListJson list,
      DocumentEditing writes) {
    this.catalogue = catalogue;
    this.documents = documents;
    this.parser = parser;
    this.list = list;
    this.writes = writes;
    this.deletions = new IndexDeletions(catalogue, documents, parser, writes);
  }

  @Override
  public void serve(Exchange exchange) {
    DatabaseRequest database = exchange.database();
    List<String> below = below(exchange.segments());
    if (below.isEmpty()) {
      serveAll(exchange, database);
    } else if (below.equals(List.of("_bulk_delete"))) {
      want(exchange, Method.POST, "POST");
      Requests.wantJson(exchange);
      deletions.deleteAll(exchange, database);
    } else if (below.size() == 3) {
      want(exchange, Method.DELETE, "DELETE");
      if (!below.get(1).equals(OF_JSON)) {
        throw LectusException.notFound("missing");
      }
      deletions.delete(exchange, database, DesignNames.idOf(below.get(0)), below.get(2));
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

  private static void want(Exchange exchange, Method method, String allow) {
    if (exchange.method() != method) {
      throw Requests.notAllowed(allow);
    }
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
            .body()
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
  private record Prepared(IndexRequest request, Optional<InteractiveEdit> edit, int bytes) {}

  private Prepared prepare(DatabaseRequest database, IndexRequest request) {
    IndexDesign stored =
        IndexResource.readDesign(documents, database, request.index().design())
            .orElseGet(IndexDesign::fresh);
    IndexDesign changed = stored.with(request);
    byte[] json = changed.json();
    InteractiveEdit edit = parser.interactive(request.index().design(), NamedRevisions.NONE, json);
    if (isThere(database, request, stored, edit)) {
      return new Prepared(request, Optional.empty(), 0);
    }
    checkRoom(database);
    return new Prepared(request, Optional.of(edit), json.length);
  }

  /** A design document that is stored, but of which there is no index, is written again. */
  private boolean isThere(
      DatabaseRequest database, IndexRequest request, IndexDesign stored, InteractiveEdit edit) {
    boolean isListed =
        catalogue.open(database.name()).indexes().definedBy(request.index().design()).stream()
            .anyMatch(it -> it.definition().name().equals(request.index().name()));
    return isListed && stored.isLike(IndexResource.designOf(edit.body()));
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
        prepared.bytes(),
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
  static Optional<IndexDesign> readDesign(
      DocumentReader documents, DatabaseRequest database, String id) {
    JsonBuffer json = new JsonBuffer(1_024);
    try {
      documents.read(database, id, DocumentQuery.DEFAULT, json);
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
  static IndexDesign designOf(ExplodedBody body) {
    JsonBuffer json = new JsonBuffer(256).octet('{');
    body.appendTo(json);
    return IndexDesign.of(json.octet('}').toBytes());
  }
}
