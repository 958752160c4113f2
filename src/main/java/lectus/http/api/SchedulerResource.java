package lectus.http.api;

import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import lectus.account.ReplicatorDocuments;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.document.DocumentId;
import lectus.document.PagedBody;
import lectus.document.read.AllDocs;
import lectus.document.read.AllDocsQuery;
import lectus.document.read.AllDocsQuery.Listing;
import lectus.document.read.DocumentQuery;
import lectus.document.read.DocumentReader;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.OtherMembers;
import lectus.http.OtherMembers.Membership;
import lectus.http.OtherMembers.Question;
import lectus.http.QueryParameters;
import lectus.http.Reply;
import lectus.http.api.NodeRequest.NodePart;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.replication.jobs.JobDocument;
import lectus.replication.jobs.ReplicationJobs;

/**
 * {@code /_scheduler/jobs} and {@code /_scheduler/docs}: the replications that run on the members,
 * and the documents that describe replications. What a member that does not answer has is missing.
 */
record SchedulerResource(
    ReplicationJobs jobs,
    AllDocs lists,
    DocumentReader documents,
    Membership membership,
    OtherMembers others)
    implements Resource {
  static final String NAME = "_scheduler";

  private static final String JOBS = "jobs";
  private static final String JOB = "job";
  private static final String DOCS = "docs";
  private static final long DEFAULT_LIMIT = 100;

  private static final int FIRST_DOCUMENTS = 4;
  private static final int MOST_DOCUMENTS = 64;

  /** A document may have a megabyte, and take ten times that once it is parsed. */
  private static final int BYTES_AT_ONCE = 128 << 10;

  private static final List<String> STATES =
      List.of("initializing", "error", "running", "pending", "crashing", "completed", "failed");

  /**
   * Returns what answers the other members, of this server's own jobs: the first {@code jobs/N} of
   * them, the one of an id, {@code job/ID}, those of a database's documents, {@code docs/DATABASE}.
   */
  NodePart own() {
    return request -> {
      request.allow("GET");
      List<String> path = request.path();
      if (path.size() != 3) {
        throw LectusException.notFound("missing");
      }
      return request.read(() -> Reply.json(200, own(path.get(1), path.get(2)).toJson()));
    };
  }

  private JsonObject own(String list, String which) {
    return switch (list) {
      case JOBS -> jobs.jobs(membership.self(), number(which));
      case JOB ->
          jobs.job(membership.self(), which).orElseThrow(() -> LectusException.notFound("missing"));
      case DOCS -> jobs.documents(membership.self(), DatabaseName.of(which));
      default -> throw LectusException.notFound("missing");
    };
  }

  private static long number(String text) {
    if (!text.matches("[0-9]{1,18}")) {
      throw LectusException.notFound("missing");
    }
    return Long.parseLong(text);
  }

  /** Returns what the other members answer to a question. Never fails. */
  private Future<List<JsonObject>> ask(String list, String which) {
    List<Future<JsonObject>> answers = new ArrayList<>();
    for (String member : membership.members()) {
      if (!member.equals(membership.self())) {
        answers.add(
            others
                .ask(member, new Question("GET", List.of(NAME, list, which), "", new byte[0]))
                .map(answer -> object(answer.status() == 200 ? answer.body() : new byte[0])));
      }
    }
    return Future.join(answers)
        .transform(
            done ->
                Future.succeededFuture(
                    answers.stream().filter(Future::succeeded).map(Future::result).toList()));
  }

  private static JsonObject object(byte[] json) {
    return json.length > 0 && JsonValue.parse(json) instanceof JsonObject object
        ? object
        : new JsonObject(Map.of());
  }

  @Override
  public void serve(Exchange exchange) {
    Requests.allow(exchange, "GET,HEAD");
    List<String> path = exchange.target().segments();
    switch (path.size() > 1 ? path.get(1) : "") {
      case JOBS -> {
        if (path.size() > 2) {
          job(exchange, String.join("/", path.subList(2, path.size())));
        } else {
          jobs(exchange);
        }
      }
      case DOCS -> documents(exchange, path.subList(2, path.size()));
      default -> throw LectusException.notFound("missing");
    }
  }

  private void jobs(Exchange exchange) {
    long limit = count(exchange.query(), "limit", DEFAULT_LIMIT);
    long skip = count(exchange.query(), "skip", 0);
    long most = Math.min(Integer.MAX_VALUE, limit + Math.min(skip, Integer.MAX_VALUE));
    ask(JOBS, Long.toString(most))
        .compose(answers -> exchange.work(() -> Reply.json(200, page(answers, most, skip, limit))))
        .onComplete(exchange::reply, exchange::fail);
  }

  private JsonBuffer page(List<JsonObject> ofOthers, long most, long skip, long limit) {
    long total = 0;
    List<JsonObject> all = new ArrayList<>();
    List<JsonObject> answers = new ArrayList<>(ofOthers);
    answers.add(jobs.jobs(membership.self(), most));
    for (JsonObject answer : answers) {
      if (answer.get("total").orElse(null) instanceof JsonNumber some) {
        total += Long.parseLong(some.text());
      }
      all.addAll(jobsIn(answer));
    }
    all.sort(Comparator.comparing(SchedulerResource::idOf));
    JsonBuffer out = new JsonBuffer(1_024);
    out.ascii("{\"total_rows\":").number(total);
    out.ascii(",\"offset\":").number(Math.min(skip, total)).ascii(",\"jobs\":[");
    List<JsonObject> shown = all.stream().skip(skip).limit(limit).toList();
    return out.each(shown, job -> job.writeTo(out)).ascii("]}");
  }

  private static List<JsonObject> jobsIn(JsonObject answer) {
    return answer.get(JOBS).orElse(null) instanceof JsonArray array
        ? array.elements().stream().map(JsonObject.class::cast).toList()
        : List.of();
  }

  private static String idOf(JsonObject job) {
    return job.textOf("id").orElse("");
  }

  private void job(Exchange exchange, String id) {
    String wanted = id.replace(' ', '+');
    ask(JOB, wanted)
        .map(
            answers ->
                jobs.job(membership.self(), wanted)
                    .or(() -> answers.stream().filter(it -> !it.members().isEmpty()).findFirst())
                    .map(job -> Reply.json(200, job.toJson()))
                    .orElseThrow(() -> LectusException.notFound("missing")))
        .onComplete(exchange::reply, exchange::fail);
  }

  private static long count(QueryParameters query, String name, long usual) {
    String text = query.text(name).orElse(Long.toString(usual));
    if (!text.matches("[+-]?[0-9]+")) {
      throw LectusException.badRequest("query_parse_error", name + " must be an integer");
    }
    if (text.matches("-0*[1-9][0-9]*")) {
      throw LectusException.badRequest("query_parse_error", name + " not in range of [0,infinity]");
    }
    String digits = text.replaceFirst("^[+-]?0*", "");
    return digits.isEmpty() ? 0 : digits.length() > 9 ? Integer.MAX_VALUE : Long.parseLong(digits);
  }

  /** The name of the database may have prefixes, with their slashes encoded or not. */
  private void documents(Exchange exchange, List<String> path) {
    int last = -1;
    for (int i = 0; i < path.size() && last < 0; i++) {
      boolean isReplicator =
          path.get(i).equals(ReplicatorDocuments.REPLICATOR.text())
              || path.get(i).endsWith('/' + ReplicatorDocuments.REPLICATOR.text());
      last = isReplicator ? i : -1;
    }
    if (path.isEmpty()) {
      list(exchange, ReplicatorDocuments.REPLICATOR);
    } else if (last < 0 || path.size() > last + 2) {
      throw LectusException.badRequest("Invalid path");
    } else {
      DatabaseName database = DatabaseName.of(String.join("/", path.subList(0, last + 1)));
      if (path.size() == last + 1) {
        list(exchange, database);
      } else {
        document(exchange, database, path.get(last + 1));
      }
    }
  }

  private void document(Exchange exchange, DatabaseName database, String id) {
    ask(DOCS, database.text())
        .compose(
            answers ->
                exchange.work(
                    () -> {
                      JsonObject document = read(database, id);
                      return Reply.json(
                          200, shown(database, id, document, merged(answers)).toJson());
                    }))
        .onComplete(exchange::reply, exchange::fail);
  }

  private JsonObject read(DatabaseName database, String id) {
    JsonBuffer out = new JsonBuffer(1_024);
    try {
      documents.read(DatabaseRequest.byServer(database), id, DocumentQuery.DEFAULT, out);
      return object(out.toBytes());
    } catch (LectusException e) {
      throw e.error() instanceof LectusError.NotFound ? LectusException.notFound("missing") : e;
    }
  }

  private static Map<String, JsonValue> merged(List<JsonObject> answers) {
    Map<String, JsonValue> all = new HashMap<>();
    answers.forEach(answer -> all.putAll(answer.members()));
    return all;
  }

  /**
   * @param ofOthers what other members run, by the documents' ids
   */
  private JsonObject shown(
      DatabaseName database, String id, JsonObject document, Map<String, JsonValue> ofOthers) {
    JobDocument described = new JobDocument(document);
    if (described.isOver()) {
      return described.shown(database, id);
    }
    return jobs.document(membership.self(), database, id)
        .orElseGet(
            () -> ofOthers.get(id) instanceof JsonObject job ? job : described.shown(database, id));
  }

  private void list(Exchange exchange, DatabaseName database) {
    QueryParameters query = exchange.query();
    Set<String> states = states(query.text("states").orElse(""));
    long skip = query.count("skip").orElse(0);
    long limit = query.count("limit").orElse(Long.MAX_VALUE);
    boolean descending = query.isTrue("descending");
    ask(DOCS, database.text())
        .onComplete(
            answers ->
                exchange.guarded(
                    () ->
                        exchange.stream(
                            () ->
                                new DocumentList(
                                    database, merged(answers), states, descending, skip, limit))),
            exchange::fail);
  }

  /**
   * @throws LectusException {@code query_parse_error}
   */
  private static Set<String> states(String text) {
    Set<String> states = new TreeSet<>();
    for (String state : text.toLowerCase(Locale.ROOT).split(",", -1)) {
      if (!state.isEmpty()) {
        states.add(state);
      }
    }
    Set<String> unknown = new TreeSet<>(states);
    STATES.forEach(unknown::remove);
    if (!unknown.isEmpty()) {
      throw LectusException.badRequest(
          "query_parse_error",
          "Unknown states [%s]. Choose from: [%s]"
              .formatted(String.join(",", unknown), String.join(",", STATES)));
    }
    return states;
  }

  /** The documents of a database, each with the state of its replication. */
  private final class DocumentList implements PagedBody {
    private final DatabaseName database;
    private final Map<String, JsonValue> ofOthers;
    private final Set<String> states;
    private final boolean descending;
    private final long skip;
    private int atOnce = FIRST_DOCUMENTS;
    private long toSkip;
    private long left;
    private Optional<String> last = Optional.empty();
    private boolean hasBegun;
    private boolean hasRows;

    DocumentList(
        DatabaseName database,
        Map<String, JsonValue> ofOthers,
        Set<String> states,
        boolean descending,
        long skip,
        long limit) {
      this.database = database;
      this.ofOthers = ofOthers;
      this.states = states;
      this.descending = descending;
      this.skip = skip;
      this.toSkip = skip;
      this.left = limit;
    }

    @Override
    public boolean appendNext(JsonBuffer out) {
      Map<String, String> parameters = new TreeMap<>();
      parameters.put("include_docs", "true");
      int asked = atOnce;
      parameters.put("limit", Integer.toString(asked));
      parameters.put("descending", Boolean.toString(descending));
      last.ifPresent(
          id -> {
            parameters.put("start_key", new JsonString(id).toJson());
            parameters.put("skip", "1");
          });
      JsonObject page = page(AllDocsQuery.parse(Listing.ALL, parameters, null));
      if (!hasBegun) {
        hasBegun = true;
        long total =
            page.get("total_rows").orElse(null) instanceof JsonNumber rows
                ? Long.parseLong(rows.text())
                : 0;
        out.ascii("{\"total_rows\":").number(total);
        out.ascii(",\"offset\":").number(Math.min(skip, total)).ascii(",\"docs\":[\r\n");
      }
      List<JsonValue> rows = ((JsonArray) page.get("rows").orElseThrow()).elements();
      for (JsonValue row : rows) {
        append((JsonObject) row, out);
      }
      boolean more = rows.size() == asked && left > 0;
      if (!more) {
        out.ascii("\r\n]}\n");
      }
      return more;
    }

    /** Where there is no database, there are no replications. */
    private JsonObject page(AllDocsQuery query) {
      JsonBuffer json = new JsonBuffer(4_096);
      try {
        PagedBody body = lists.answer(DatabaseRequest.byServer(database), query);
        boolean more = true;
        while (more) {
          more = body.appendNext(json);
        }
        boolean isLarge = json.length() > BYTES_AT_ONCE;
        atOnce = isLarge ? Math.max(1, atOnce / 4) : Math.min(MOST_DOCUMENTS, 2 * atOnce);
        return object(json.toBytes());
      } catch (LectusException e) {
        if (e.error() instanceof LectusError.NotFound) {
          return new JsonObject(Map.of("rows", new JsonArray(List.of())));
        }
        throw e;
      }
    }

    private void append(JsonObject row, JsonBuffer out) {
      String id = row.textOf("id").orElseThrow();
      last = Optional.of(id);
      if (left == 0
          || DocumentId.isDesign(id)
          || !(row.get("doc").orElse(null) instanceof JsonObject document)) {
        return;
      }
      if (states.isEmpty() && toSkip > 0) {
        toSkip--;
        return;
      }
      JsonObject shown = shown(database, id, document, ofOthers);
      boolean isWanted =
          states.isEmpty() || shown.textOf("state").filter(states::contains).isPresent();
      if (!isWanted) {
        return;
      }
      if (toSkip > 0) {
        toSkip--;
        return;
      }
      shown.writeTo(out.ascii(hasRows ? ",\r\n" : ""));
      hasRows = true;
      left--;
    }
  }
}
