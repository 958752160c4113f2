package lectus.http.node;

import java.util.List;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.QueryParameters;
import lectus.http.message.Reply;

/**
 * {@code /_scheduler/jobs} and {@code /_scheduler/docs}: the running replications, and the
 * documents that request them. There are none.
 */
final class SchedulerResource implements Resource {
  private static final String DATABASE = "_replicator";

  private static final Reply NO_JOBS =
      Reply.json(200, "{\"total_rows\":0,\"offset\":0,\"jobs\":[]}");
  private static final Reply NO_DOCUMENTS =
      Reply.json(200, "{\"total_rows\":0,\"offset\":0,\"docs\":[\r\n\r\n]}");

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.reply(reply(exchange.segments(), exchange.query()));
      default -> throw Requests.notAllowed("GET,HEAD");
    }
  }

  private static Reply reply(List<String> path, QueryParameters query) {
    String list = path.size() > 1 ? path.get(1) : "";
    return switch (list) {
      case "jobs" -> jobs(path, query);
      case "docs" -> documents(path, query);
      default -> throw LectusException.notFound("missing");
    };
  }

  private static Reply jobs(List<String> path, QueryParameters query) {
    if (path.size() > 2) {
      throw LectusException.notFound("missing");
    }
    checkCount(query, "limit");
    checkCount(query, "skip");
    return NO_JOBS;
  }

  private static void checkCount(QueryParameters query, String name) {
    String text = query.text(name).orElse("0");
    if (!text.matches("[+-]?[0-9]+")) {
      throw LectusException.badRequest("query_parse_error", name + " must be an integer");
    }
    if (text.matches("-0*[1-9][0-9]*")) {
      throw LectusException.badRequest("query_parse_error", name + " not in range of [0,infinity]");
    }
  }

  private static Reply documents(List<String> path, QueryParameters query) {
    boolean isList = path.size() == 2 || isReplicator(path.get(path.size() - 1));
    if (!isList) {
      throw path.subList(2, path.size()).stream().anyMatch(SchedulerResource::isReplicator)
          ? LectusException.notFound("missing")
          : LectusException.badRequest("Invalid path");
    }
    query.count("limit");
    query.count("skip");
    return NO_DOCUMENTS;
  }

  /** The name may have prefixes, with their slashes encoded or not. */
  private static boolean isReplicator(String name) {
    return name.equals(DATABASE) || name.endsWith('/' + DATABASE);
  }
}
