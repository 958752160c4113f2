package lectus.http.admin;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lectus.changes.page.DatabaseInfo;
import lectus.database.Catalogue;
import lectus.database.DatabaseRequest;
import lectus.database.Partition;
import lectus.document.PagedBody;
import lectus.document.list.AllDocs;
import lectus.document.list.AllDocsQuery;
import lectus.document.list.AllDocsQuery.Listing;
import lectus.error.LectusException;
import lectus.http.Method;
import lectus.http.Reply;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.json.JsonBuffer;

/** {@code /{db}/_partition/{partition}} and the paths below it. */
final class PartitionResource implements Resource {
  private static final String PARAMETER = "partition";

  private final Catalogue catalogue;
  private final DatabaseInfo info;
  private final AllDocs allDocs;
  private final Map<String, Resource> queries;

  /**
   * @param queries what answers for a partition, by name
   */
  PartitionResource(
      Catalogue catalogue, DatabaseInfo info, AllDocs allDocs, Map<String, Resource> queries) {
    this.catalogue = catalogue;
    this.info = info;
    this.allDocs = allDocs;
    this.queries = queries;
  }

  @Override
  public void serve(Exchange exchange) {
    DatabaseRequest database = exchange.database();
    List<String> segments = exchange.segments();
    if (segments.size() == 2) {
      throw LectusException.badRequest("invalid_partition_req");
    }
    Partition partition = Partition.of(segments.get(2));
    if (segments.size() == 3) {
      serveInfo(exchange, database, partition);
    } else if (segments.get(3).equals("_all_docs")) {
      serveAllDocs(exchange, database, parameters(exchange, partition));
    } else if (segments.size() == 4 && queries.containsKey(segments.get(3))) {
      queries.get(segments.get(3)).serve(exchange);
    } else {
      throw missing(segments);
    }
  }

  private void serveInfo(Exchange exchange, DatabaseRequest database, Partition partition) {
    if (exchange.method() != Method.GET && !exchange.isHead()) {
      throw Requests.notAllowed("GET");
    }
    exchange.answer(
        () -> {
          JsonBuffer out = new JsonBuffer(256);
          info.append(database, partition, out);
          return Reply.json(200, out);
        });
  }

  private void serveAllDocs(
      Exchange exchange, DatabaseRequest database, Map<String, String> parameters) {
    boolean queries = exchange.segments().size() == 5;
    if (exchange.segments().size() > 5 || (queries && !exchange.segment(4).equals("queries"))) {
      throw LectusException.notFound("missing");
    }
    switch (exchange.method()) {
      case POST -> {
        Requests.wantJson(exchange);
        exchange.streamBody(
            body ->
                queries
                    ? answers(database, AllDocsQuery.parseQueries(Listing.ALL, parameters, body))
                    : answer(database, AllDocsQuery.parse(Listing.ALL, parameters, body)));
      }
      case GET, HEAD -> {
        if (queries) {
          throw Requests.notAllowed("POST");
        }
        exchange.stream(() -> answer(database, AllDocsQuery.parse(Listing.ALL, parameters, null)));
      }
      default -> throw Requests.notAllowed(queries ? "POST" : "GET,HEAD,POST");
    }
  }

  private PagedBody answer(DatabaseRequest database, AllDocsQuery query) {
    DatabaseInfo.checkPartitioned(catalogue.open(database.name()));
    return allDocs.answer(database, query);
  }

  private PagedBody answers(DatabaseRequest database, List<AllDocsQuery> queries) {
    DatabaseInfo.checkPartitioned(catalogue.open(database.name()));
    return allDocs.answers(database, queries);
  }

  private static Map<String, String> parameters(Exchange exchange, Partition partition) {
    Map<String, String> parameters = new LinkedHashMap<>(exchange.query().asMap());
    String other = parameters.put(PARAMETER, partition.name());
    if (other != null && !other.equals(partition.name())) {
      throw LectusException.badRequest("Conflicting value for `partition` in query string");
    }
    return parameters;
  }

  private static LectusException missing(List<String> segments) {
    return switch (segments.get(3)) {
      case "_design" ->
          Requests.notImplemented(
              "/{db}/_partition/{partition}/"
                  + segments.get(3)
                  + " is a part of CouchDB that Lectus does not have.");
      default -> LectusException.notFound("missing");
    };
  }
}
