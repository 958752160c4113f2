package lectus.http.api;

import com.ibm.icu.util.VersionInfo;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import lectus.account.AdminChanges;
import lectus.error.LectusException;
import lectus.http.HttpSettings;
import lectus.http.Method;
import lectus.http.OtherMembers;
import lectus.http.OtherMembers.Answer;
import lectus.http.OtherMembers.Membership;
import lectus.http.OtherMembers.Question;
import lectus.http.Reply;
import lectus.http.api.NodeConfig.CouchSettings;
import lectus.http.api.NodeRequest.NodePart;
import lectus.http.exchange.DesignFunctions;
import lectus.http.exchange.Dispatch;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Failures;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.Services;
import lectus.http.limits.RequestThreads;
import lectus.http.limits.RequestThreads.Kind;
import lectus.json.JsonBuffer;
import lectus.metrics.Metrics.ExpositionFormat;
import lectus.metrics.RequestLabel;
import lectus.metrics.Tasks.TaskState;

/**
 * {@code /_node/{name}}: a server's name among the members, and its own resources below. Those of
 * another member are asked for where they are.
 */
public final class NodeApi {
  /** More than a value of the configuration needs. */
  private static final int MAX_BODY_BYTES = 16 << 10;

  /** CouchDB's names for a node that was given none; scripts have them. */
  private static final Set<String> UNNAMED =
      Set.of("nonode@nohost", "couchdb@127.0.0.1", "couchdb@localhost");

  /** The names before a resource's own. */
  private static final int NAMES_BEFORE = 2;

  /** Requests of other members take turns as if they were of one client. */
  private static final Object OTHERS = new Object();

  private static final String CONFIG = "_config";
  private static final String TASKS = "_active_tasks";

  private static final Question ASK_FOR_TASKS =
      new Question("GET", List.of(TASKS), "", new byte[0]);

  private final Services.Server server;
  private final Membership membership;
  private final OtherMembers others;
  private final RequestThreads readers;
  private final Duration patience;
  private final DesignFunctions functions;
  private final SchedulerResource scheduler;
  private final Map<String, NodePart> parts;

  public NodeApi(Services services, HttpSettings settings) {
    this.server = services.server();
    this.membership = server.membership();
    this.others = server.others();
    this.readers = services.perRequest().readers();
    this.functions = services.functions();
    this.patience = Duration.ofSeconds(settings.requests().requestSeconds());
    AdminChanges admins = services.users().accounts().admins();
    NodeConfig config =
        new NodeConfig(new CouchSettings(server.storeId(), server.settings(), admins), admins);
    this.scheduler =
        new SchedulerResource(
            services.jobs(),
            services.documents().lists(),
            services.documents().reader(),
            membership,
            others);
    ServerStatistics statistics = new ServerStatistics(services.perRequest().figures());
    this.parts =
        Map.of(
            TASKS,
            shown(request -> ownTasks().octet(']')),
            SchedulerResource.NAME,
            scheduler.own(),
            CONFIG,
            config::answer,
            "_prometheus",
            this::metrics,
            "_restart",
            this::restart,
            "_checkpoint",
            this::checkpoint,
            "_stats",
            shown(request -> statistics(statistics.tree(), request)),
            "_system",
            shown(request -> ProcessStatistics.json()),
            "_versions",
            shown(request -> versions()));
  }

  Resource scheduler() {
    return scheduler;
  }

  private static NodePart shown(Function<NodeRequest, JsonBuffer> json) {
    return request -> {
      request.allow("GET");
      return Future.succeededFuture(Reply.json(200, json.apply(request)));
    };
  }

  void serve(Exchange exchange) {
    List<String> path = exchange.target().segments();
    if (path.size() < NAMES_BEFORE) {
      throw LectusException.badRequest("Incomplete path to _node request");
    }
    if (path.size() > NAMES_BEFORE) {
      serveBelow(exchange, path.subList(NAMES_BEFORE, path.size()));
      return;
    }
    // Every method is allowed, as in CouchDB.
    String name = member(exchange);
    exchange.reply(Reply.json(200, new JsonBuffer(64).ascii("{\"name\":").string(name).octet('}')));
  }

  private void serveBelow(Exchange exchange, List<String> path) {
    check(path.get(0));
    String node = member(exchange);
    boolean hasBody = exchange.method() == Method.PUT || exchange.method() == Method.POST;
    (hasBody ? exchange.body(MAX_BODY_BYTES) : Future.succeededFuture(new byte[0]))
        .map(
            body ->
                new NodeRequest(
                    exchange.method(),
                    path,
                    String.join(",", exchange.request().headers().getAll(HttpHeaders.ACCEPT)),
                    body,
                    exchange::work,
                    exchange::change,
                    exchange.context()))
        .compose(it -> node.equals(membership.self()) ? answer(it) : ask(node, it))
        .onComplete(exchange::reply, exchange::fail);
  }

  /** Returns the full name of the member that is asked for. */
  private String member(Exchange exchange) {
    String asked = exchange.segment(1);
    List<String> members = membership.members();
    boolean isOnly = members.size() == 1 && UNNAMED.contains(asked);
    if (asked.equals("_local") || asked.equals(membership.self()) || isOnly) {
      return membership.self();
    }
    if (!members.contains(asked)) {
      throw LectusException.notFound("no such node: " + asked);
    }
    return asked;
  }

  /**
   * Whether there is such a resource.
   *
   * @throws LectusException not_implemented (501)
   */
  private void check(String name) {
    if (!parts.containsKey(name)) {
      throw Requests.notImplemented(
          "/_node/{name}/" + name + " is a part of CouchDB that Lectus does not have.");
    }
  }

  private Future<Reply> answer(NodeRequest request) {
    check(request.path().get(0));
    return parts.get(request.path().get(0)).answer(request);
  }

  /** Admins are the store's. They are made here, so that no password crosses the bus. */
  private Future<Reply> ask(String member, NodeRequest request) {
    List<String> path = request.path();
    if (path.size() > 1 && path.get(0).equals(CONFIG) && path.get(1).equals(NodeConfig.ADMINS)) {
      return others.meet(member).compose(met -> answer(request));
    }
    Method method = request.method() == Method.HEAD ? Method.GET : request.method();
    return others
        .ask(member, new Question(method.name(), path, request.accept(), request.body()))
        .map(NodeApi::reply);
  }

  private static Reply reply(Answer answer) {
    Reply reply =
        new Reply(answer.status(), answer.type(), Buffer.buffer(answer.body()), List.of());
    for (Map.Entry<String, String> header : answer.headers().entrySet()) {
      reply = reply.with(header.getKey(), header.getValue());
    }
    return reply;
  }

  /** Answers another member, whatever comes of it. */
  public Future<Reply> answer(Question question, Context context) {
    return Future.<Reply>future(done -> answer(request(question, context)).onComplete(done))
        .recover(
            failure -> Future.succeededFuture(Reply.error(Failures.errorOf(failure, label()))));
  }

  private static RequestLabel label() {
    return new RequestLabel(UUID.randomUUID().toString(), Optional.empty(), Optional.empty());
  }

  private NodeRequest request(Question question, Context context) {
    return new NodeRequest(
        Method.of(HttpMethod.valueOf(question.method())),
        List.copyOf(question.path()),
        question.accept(),
        question.body(),
        work -> Dispatch.inTime(patience, readers.of(OTHERS, Kind.REQUEST), context, work),
        work -> Dispatch.inTime(patience, readers.ofChanges(OTHERS), context, work),
        context);
  }

  /** {@code _versions}: what the server is built on. */
  private JsonBuffer versions() {
    String[] engine = functions.engine().split(" ", 2);
    JsonBuffer json = new JsonBuffer(512);
    json.ascii("{\"java\":{\"version\":").string(System.getProperty("java.version", ""));
    json.ascii(",\"vendor\":").string(System.getProperty("java.vendor", ""));
    json.ascii("},\"collation_driver\":{\"name\":\"icu4j\",\"library_version\":");
    json.string(VersionInfo.ICU_VERSION.toString());
    json.ascii("},\"javascript_engine\":{\"name\":").string(engine[0].toLowerCase(Locale.ROOT));
    return json.ascii(",\"version\":").string(engine[1]).ascii("}}");
  }

  /**
   * {@code _restart}: the server answers, stops in order, and starts again. Nothing that it has
   * acknowledged is lost, and no request that it has taken is cut off.
   */
  private Future<Reply> restart(NodeRequest request) {
    if (request.path().size() > 1) {
      throw LectusException.notFound("missing");
    }
    request.allow("POST");
    server.restart().run();
    return Future.succeededFuture(Reply.ok(200));
  }

  /**
   * {@code _checkpoint}: the server makes a folder that a copying tool can take, and says where.
   */
  private Future<Reply> checkpoint(NodeRequest request) {
    if (request.path().size() > 1) {
      throw LectusException.notFound("missing");
    }
    request.allow("POST");
    return request.change(
        () -> {
          Path folder =
              server
                  .checkpoint()
                  .get()
                  .orElseThrow(
                      () ->
                          Requests.notImplemented(
                              "This store is a FoundationDB cluster, which has a backup of its own:"
                                  + " fdbbackup."));
          JsonBuffer json = new JsonBuffer(128).ascii("{\"ok\":true,\"path\":");
          return Reply.json(201, json.string(folder.toAbsolutePath().toString()).octet('}'));
        });
  }

  /**
   * {@code _prometheus}: all metrics, in Prometheus' text format or as OpenMetrics, whichever is
   * asked for.
   */
  private Future<Reply> metrics(NodeRequest request) {
    request.allow("GET");
    ExpositionFormat format = ExpositionFormat.of(request.accept());
    return Future.fromCompletionStage(server.metrics().text(format), request.context())
        .map(text -> new Reply(200, format.contentType(), Buffer.buffer(text), List.of()));
  }

  /** {@code _stats} and all below it. */
  private static JsonBuffer statistics(StatTree tree, NodeRequest request) {
    JsonBuffer json = new JsonBuffer(4_096);
    tree.append(request.path().subList(1, request.path().size()), json);
    return json;
  }

  /**
   * {@code /_active_tasks}: what the members do in the background, in CouchDB's form. As in
   * CouchDB, the tasks of a member that does not answer are missing.
   */
  void tasks(Exchange exchange) {
    Requests.allow(exchange, "GET,HEAD");
    List<Future<String>> answers =
        membership.members().stream()
            .filter(member -> !member.equals(membership.self()))
            .map(member -> others.ask(member, ASK_FOR_TASKS).map(NodeApi::tasksOf))
            .toList();
    Future.join(answers)
        .transform(done -> Future.succeededFuture(allTasks(answers)))
        .onComplete(exchange::reply, exchange::fail);
  }

  /** Returns the tasks of another member, with commas between them. */
  private static String tasksOf(Answer answer) {
    String json = new String(answer.body(), StandardCharsets.UTF_8).strip();
    boolean isList = answer.status() == 200 && json.startsWith("[") && json.endsWith("]");
    return isList ? json.substring(1, json.length() - 1) : "";
  }

  private Reply allTasks(List<Future<String>> answers) {
    JsonBuffer json = ownTasks();
    for (Future<String> answer : answers) {
      if (answer.succeeded() && !answer.result().isEmpty()) {
        json.ascii(json.length() == 1 ? "" : ",");
        json.raw(answer.result().getBytes(StandardCharsets.UTF_8));
      }
    }
    return Reply.json(200, json.octet(']'));
  }

  /** Returns the beginning of a list, with the running tasks of this server. */
  private JsonBuffer ownTasks() {
    JsonBuffer json = new JsonBuffer(256).octet('[');
    return json.each(server.tasks().running(), task -> append(task, json));
  }

  /** Clients take a task's pid for its name. What has no database has an empty one. */
  private void append(TaskState task, JsonBuffer json) {
    json.ascii("{\"node\":").string(membership.self());
    json.ascii(",\"pid\":").string("<0." + task.number() + ".0>");
    json.ascii(",\"type\":").string(task.type());
    if (task.members().isPresent()) {
      json.octet(',').raw(task.members().get().get().getBytes(StandardCharsets.UTF_8));
      appendTimes(task, json);
      json.octet('}');
      return;
    }
    json.ascii(",\"database\":").string(task.subject());
    task.details()
        .forEach((name, value) -> json.ascii(",\"").ascii(name).ascii("\":").string(value));
    appendTimes(task, json);
    json.ascii(",\"changes_done\":").number(task.done());
    task.total().ifPresent(total -> json.ascii(",\"total_changes\":").number(total));
    task.progress().ifPresent(percent -> json.ascii(",\"progress\":").number(percent));
    json.octet('}');
  }

  private static void appendTimes(TaskState task, JsonBuffer json) {
    json.ascii(",\"started_on\":").number(task.started().getEpochSecond());
    json.ascii(",\"updated_on\":").number(task.updated().getEpochSecond());
  }
}
