package lectus.http.admin;

import com.ibm.icu.util.VersionInfo;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.account.AdminChanges;
import lectus.account.UserDocuments;
import lectus.changes.page.DatabaseNotifications;
import lectus.database.Catalogue;
import lectus.database.CreationOptions;
import lectus.database.DatabaseName;
import lectus.document.RequestJson;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.Headers;
import lectus.http.HttpSettings;
import lectus.http.Membership;
import lectus.http.OtherMembers;
import lectus.http.OtherMembers.Answer;
import lectus.http.OtherMembers.Question;
import lectus.http.QueryParameters;
import lectus.http.Reply;
import lectus.http.admin.NodeRequest.NodePart;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.PublicUrl;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.Services;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.metrics.Metrics;
import lectus.metrics.Metrics.ExpositionFormat;
import lectus.metrics.Tasks;
import lectus.metrics.Tasks.TaskState;
import lectus.store.StoreHeartbeat;

/** The resources of the server itself. */
public final class NodeApi {
  private final Services services;
  private final HttpSettings settings;

  public NodeApi(Services services, HttpSettings settings) {
    this.services = services;
    this.settings = settings;
  }

  /** {@code /}. */
  public Resource root() {
    return new ServerResource(services.storeId(), settings.version());
  }

  /** Returns the resources without others below them. */
  public Map<String, Resource> atTop() {
    return Map.of(
        "_up",
        new UpResource(services.pulse()),
        "_active_tasks",
        new ActiveTasksResource(tasks(), services.membership(), services.others()),
        "_membership",
        new MembershipResource(services.membership()),
        "_cluster_setup",
        new ClusterSetupResource(
            services.membership(),
            services.catalogue(),
            services.events(),
            services.accounts().admins()));
  }

  private TaskList tasks() {
    return new TaskList(services.tasks(), services.membership());
  }

  /** Returns the resources of this server itself, for its clients and for other members. */
  public OwnResources parts() {
    Map<String, NodePart> parts =
        Map.of(
            TaskList.NAME,
            tasks(),
            "_config",
            config(),
            "_prometheus",
            new MetricsResource(services.metrics()),
            "_restart",
            new RestartPart(services.restart()),
            "_stats",
            new StatsResource(services.figures()),
            "_system",
            new SystemResource(),
            "_versions",
            new VersionsResource());
    return new OwnResources(
        parts, services.readers(), Duration.ofSeconds(settings.requestSeconds()));
  }

  private ConfigResource config() {
    LockOut lockOut = new LockOut(services.settings().live(), services.accounts().admins());
    return new ConfigResource(
        new CouchSettings(services.storeId(), services.settings(), lockOut),
        new AdminsResource(services.accounts(), lockOut));
  }

  private NodeResource node() {
    OwnResources parts = parts();
    return new NodeResource(
        services.membership(), parts, new RemoteParts(services.others(), parts));
  }

  /** Returns the resources that answer for everything below their names. */
  public Map<String, Resource> trees() {
    return Map.of(
        "_example",
        PackagedPage.example(),
        "_lectus",
        PackagedPage.dashboard(),
        "_utils",
        new UtilsResource(settings.utils()),
        "_node",
        node(),
        "_scheduler",
        new SchedulerResource());
  }

  /** {@code /_node/{node}/_versions}: what the server is built on. It runs no JavaScript. */
  private static final class VersionsResource implements NodePart {
    private final Reply reply;

    VersionsResource() {
      JsonBuffer json = new JsonBuffer(512);
      json.ascii("{\"java\":{\"version\":").string(System.getProperty("java.version", ""));
      json.ascii(",\"vendor\":").string(System.getProperty("java.vendor", ""));
      json.ascii("},\"collation_driver\":{\"name\":\"icu4j\",\"library_version\":");
      json.string(VersionInfo.ICU_VERSION.toString());
      json.ascii("},\"javascript_engine\":{\"name\":\"none\"}}");
      reply = Reply.json(200, json);
    }

    @Override
    public Future<Reply> answer(NodeRequest request) {
      return switch (request.method()) {
        case GET, HEAD -> Future.succeededFuture(reply);
        default -> throw Requests.notAllowed("GET");
      };
    }
  }

  /**
   * {@code /_node/{node}/_restart}: the server answers, stops in order, and starts again. Nothing
   * that it has acknowledged is lost, and no request that it has taken is cut off.
   */
  private static final class RestartPart implements NodePart {
    private final Runnable restart;

    RestartPart(Runnable restart) {
      this.restart = restart;
    }

    @Override
    public Future<Reply> answer(NodeRequest request) {
      if (request.path().size() > 1) {
        throw LectusException.notFound("missing");
      }
      return switch (request.method()) {
        case POST -> {
          restart.run();
          yield Future.succeededFuture(Reply.ok(200));
        }
        default -> throw Requests.notAllowed("POST");
      };
    }
  }

  /**
   * {@code /_node/{node}/_prometheus}: all figures, in Prometheus' text format or as OpenMetrics,
   * whichever is asked for.
   */
  private static final class MetricsResource implements NodePart {
    private final Metrics metrics;

    MetricsResource(Metrics metrics) {
      this.metrics = metrics;
    }

    @Override
    public Future<Reply> answer(NodeRequest request) {
      return switch (request.method()) {
        case GET, HEAD -> {
          ExpositionFormat format = ExpositionFormat.of(request.accept());
          yield Future.fromCompletionStage(metrics.text(format), request.work().context())
              .map(text -> new Reply(200, format.contentType(), Buffer.buffer(text), List.of()));
        }
        default -> throw Requests.notAllowed("GET");
      };
    }
  }

  /**
   * {@code /}: the server's greeting; a browser is led to the dashboard. The version is that of the
   * CouchDB API which Lectus speaks.
   */
  private static final class ServerResource implements Resource {
    /** Relative, since a proxy may have put another path before it. */
    private static final Reply DASHBOARD = Reply.empty(302).with(Headers.LOCATION, "_lectus/");

    private final Reply welcome;

    /**
     * @param version of this server, not of the API
     */
    ServerResource(String storeId, String version) {
      JsonBuffer json = new JsonBuffer(256);
      json.ascii("{\"couchdb\":\"Welcome\",\"version\":").string(HttpSettings.API_VERSION);
      json.ascii(",\"git_sha\":").string(version);
      json.ascii(",\"uuid\":").string(storeId);
      json.ascii(",\"features\":[\"atomic_bulk_docs\",\"fields\"],\"vendor\":{\"name\":\"Lectus\"");
      json.ascii(",\"version\":").string(version).ascii("}}");
      welcome = Reply.json(200, json);
    }

    @Override
    public void serve(Exchange exchange) {
      switch (exchange.method()) {
        case GET, HEAD -> exchange.reply(isBrowser(exchange) ? DASHBOARD : welcome);
        default -> throw Requests.notAllowed("GET,HEAD");
      }
    }

    /** Java's HttpURLConnection names pages first, too, but never images as a browser does. */
    private static boolean isBrowser(Exchange exchange) {
      String accepted = String.join(",", exchange.request().headers().getAll(HttpHeaders.ACCEPT));
      return accepted.startsWith("text/html") && !accepted.contains("image/gif");
    }
  }

  /**
   * {@code /_up}, for load balancers: 200 as long as the store is well, else 503. It needs no
   * reader's thread, so it answers even when all of them wait for the store.
   */
  private record UpResource(StoreHeartbeat pulse) implements Resource {
    private static final Reply UP = Reply.json(200, "{\"status\":\"ok\",\"seeds\":{}}");

    @Override
    public void serve(Exchange exchange) {
      switch (exchange.method()) {
        case GET, HEAD ->
            pulse
                .ask()
                .thenAccept(
                    complaint ->
                        exchange.context().runOnContext(none -> exchange.reply(reply(complaint))));
        default -> throw Requests.notAllowed("GET,HEAD");
      }
    }

    private static Reply reply(Optional<String> complaint) {
      return complaint
          .map(sentence -> Reply.error(new LectusError.Unavailable(sentence)))
          .orElse(UP);
    }
  }

  /**
   * {@code /_membership}: the living members. CouchDB lists the nodes that it is connected to, and
   * those that ought to be there. Members are not enrolled here, so both lists are the same.
   */
  private record MembershipResource(Membership membership) implements Resource {
    @Override
    public void serve(Exchange exchange) {
      switch (exchange.method()) {
        case GET, HEAD -> exchange.reply(Reply.json(200, json(membership.members())));
        default -> throw Requests.notAllowed("GET");
      }
    }

    private static JsonBuffer json(List<String> members) {
      JsonBuffer json = new JsonBuffer(128);
      append(json.ascii("{\"all_nodes\":["), members);
      append(json.ascii("],\"cluster_nodes\":["), members);
      return json.ascii("]}");
    }

    private static void append(JsonBuffer json, List<String> members) {
      for (int i = 0; i < members.size(); i++) {
        json.ascii(i == 0 ? "" : ",").string(members.get(i));
      }
    }
  }

  /**
   * {@code /_cluster_setup}, for CouchDB's wizard and scripts: servers are set up by their
   * configuration, and what is left to do is to make the databases of the system, and the admin who
   * is named.
   */
  private record ClusterSetupResource(
      Membership membership, Catalogue catalogue, DatabaseNotifications events, AdminChanges admins)
      implements Resource {
    private static final int MAX_BYTES = 16 << 10;
    private static final String DATABASES = "ensure_dbs_exist";
    private static final List<DatabaseName> OF_SYSTEM =
        List.of(UserDocuments.USERS, DatabaseName.of("_replicator"));

    @Override
    public void serve(Exchange exchange) {
      switch (exchange.method()) {
        case GET, HEAD -> {
          List<DatabaseName> wanted = names(exchange.query().json(DATABASES));
          exchange.answer(() -> Reply.json(200, "{\"state\":\"" + state(wanted) + "\"}"));
        }
        case POST -> {
          Requests.wantJson(exchange);
          exchange
              .body(MAX_BYTES)
              .compose(body -> exchange.change(() -> setUp(RequestJson.object(body))))
              .onComplete(exchange::reply, exchange::fail);
        }
        default -> throw Requests.notAllowed("GET,POST");
      }
    }

    private String state(List<DatabaseName> wanted) {
      boolean isFinished = missing(wanted).isEmpty();
      return membership.members().size() == 1
          ? isFinished ? "single_node_enabled" : "single_node_disabled"
          : isFinished ? "cluster_finished" : "cluster_enabled";
    }

    private List<DatabaseName> missing(List<DatabaseName> wanted) {
      return wanted.stream().filter(name -> !exists(name)).toList();
    }

    private boolean exists(DatabaseName name) {
      try {
        catalogue.open(name);
        return true;
      } catch (LectusException absent) {
        if (absent.error() instanceof LectusError.NotFound) {
          return false;
        }
        throw absent;
      }
    }

    private Reply setUp(JsonValue.JsonObject request) {
      switch (text(request, "action").orElse("")) {
        case "enable_single_node", "finish_cluster" -> {
          List<DatabaseName> missing = missing(names(request.get(DATABASES)));
          if (missing.isEmpty()) {
            throw LectusException.badRequest("Cluster is already finished");
          }
          makeAdmin(request);
          missing.forEach(this::create);
          return Reply.ok(201);
        }
        case "enable_cluster" -> throw LectusException.badRequest("Cluster is already enabled");
        case "add_node", "remove_node", "receive_cookie" ->
            throw LectusException.badRequest("Servers join a cluster by their configuration.");
        default -> throw LectusException.badRequest("Invalid Action'");
      }
    }

    private void makeAdmin(JsonValue.JsonObject request) {
      Optional<String> name = text(request, "username");
      Optional<String> password = text(request, "password");
      if (name.isPresent() && password.isPresent()) {
        admins.put(name.get(), password.get());
      }
    }

    private void create(DatabaseName name) {
      try {
        events.publishCreated(catalogue.create(name, CreationOptions.DEFAULT).instance(), name);
      } catch (LectusException existing) {
        if (!(existing.error() instanceof LectusError.PreconditionFailed)) {
          throw existing;
        }
      }
    }

    private static Optional<String> text(JsonValue.JsonObject request, String name) {
      return request
          .get(name)
          .filter(JsonValue.JsonString.class::isInstance)
          .map(it -> ((JsonValue.JsonString) it).value());
    }

    private static List<DatabaseName> names(Optional<JsonValue> given) {
      return given.map(ClusterSetupResource::names).orElse(OF_SYSTEM);
    }

    private static List<DatabaseName> names(JsonValue given) {
      List<DatabaseName> names = new ArrayList<>();
      if (given instanceof JsonValue.JsonArray array) {
        for (JsonValue element : array.elements()) {
          if (!(element instanceof JsonValue.JsonString name)) {
            throw noNames();
          }
          names.add(DatabaseName.of(name.value()));
        }
        return names;
      }
      throw noNames();
    }

    private static LectusException noNames() {
      return LectusException.badRequest(DATABASES + " must be a list of names of databases.");
    }
  }

  /**
   * {@code /_utils/}, the place of CouchDB's administration interface, Fauxton. An administrator
   * names the folder that has it.
   */
  private static final class UtilsResource implements Resource {
    private static final String PATH = "/_utils/";

    /** Those of CouchDB 3.5. Fauxton makes functions of texts, and styles in its elements. */
    private static final List<Reply.Header> HEADERS =
        List.of(
            new Reply.Header(Headers.CACHE_CONTROL, "private, must-revalidate"),
            new Reply.Header(
                "Content-Security-Policy",
                "child-src 'self' data: blob:; default-src 'self'; img-src 'self' data:;"
                    + " font-src 'self'; script-src 'self' 'unsafe-eval';"
                    + " style-src 'self' 'unsafe-inline'; frame-src https://blog.couchdb.org;"));

    private final Optional<Resource> folder;

    UtilsResource(Optional<Path> folder) {
      this.folder = folder.map(root -> new FolderResource(root, HEADERS));
    }

    @Override
    public void serve(Exchange exchange) {
      folder.ifPresentOrElse(files -> files.serve(exchange), () -> answerWithout(exchange));
    }

    private static void answerWithout(Exchange exchange) {
      switch (exchange.method()) {
        case GET, HEAD -> exchange.reply(replyWithout(exchange));
        default -> throw Requests.notAllowed("GET,HEAD");
      }
    }

    private static Reply replyWithout(Exchange exchange) {
      boolean isAlone = exchange.segments().size() == 1;
      if (isAlone && !exchange.request().path().endsWith("/")) {
        return Reply.empty(301).with(Headers.LOCATION, PublicUrl.ofPath(exchange, PATH));
      }
      throw LectusException.notFound(
          isAlone
              ? "There is no administration interface here. For Fauxton: npm pack fauxton && tar xf"
                  + " fauxton-*.tgz, then start Lectus with --utils package/dist/release. Its own"
                  + " page is /_lectus/."
              : "missing");
    }
  }

  /**
   * {@code /_active_tasks}: what the members do in the background, in CouchDB's form. As in
   * CouchDB, the tasks of a member that does not answer are missing.
   */
  private record ActiveTasksResource(TaskList own, Membership membership, OtherMembers others)
      implements Resource {
    private static final Question QUESTION =
        new Question("GET", List.of(TaskList.NAME), "", new byte[0]);

    @Override
    public void serve(Exchange exchange) {
      switch (exchange.method()) {
        case GET, HEAD -> {
          List<Future<String>> answers = answers();
          Future.join(answers)
              .transform(done -> Future.succeededFuture(all(answers)))
              .onComplete(exchange::reply, exchange::fail);
        }
        default -> throw Requests.notAllowed("GET,HEAD");
      }
    }

    private List<Future<String>> answers() {
      return membership.members().stream()
          .filter(member -> !member.equals(membership.self()))
          .map(member -> others.ask(member, QUESTION).map(ActiveTasksResource::tasks))
          .toList();
    }

    /** Returns the tasks of another member, with commas between them. */
    private static String tasks(Answer answer) {
      String json = new String(answer.body(), StandardCharsets.UTF_8).strip();
      boolean isList = answer.status() == 200 && json.startsWith("[") && json.endsWith("]");
      return isList ? json.substring(1, json.length() - 1) : "";
    }

    private Reply all(List<Future<String>> answers) {
      JsonBuffer json = new JsonBuffer(256).octet('[');
      own.append(json);
      for (Future<String> answer : answers) {
        if (answer.succeeded() && !answer.result().isEmpty()) {
          json.ascii(json.length() == 1 ? "" : ",");
          json.raw(answer.result().getBytes(StandardCharsets.UTF_8));
        }
      }
      return Reply.json(200, json.octet(']'));
    }
  }

  /**
   * {@code /_scheduler/jobs} and {@code /_scheduler/docs}: the running replications, and the
   * documents that request them. There are none.
   */
  private static final class SchedulerResource implements Resource {
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
        throw LectusException.badRequest(
            "query_parse_error", name + " not in range of [0,infinity]");
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

  /** {@code /_node/{node}/_active_tasks}: what a server does in the background. */
  private static final class TaskList implements NodePart {
    static final String NAME = "_active_tasks";

    private final Tasks tasks;
    private final Membership membership;

    TaskList(Tasks tasks, Membership membership) {
      this.tasks = tasks;
      this.membership = membership;
    }

    @Override
    public Future<Reply> answer(NodeRequest request) {
      return switch (request.method()) {
        case GET, HEAD -> {
          JsonBuffer json = new JsonBuffer(256).octet('[');
          append(json);
          yield Future.succeededFuture(Reply.json(200, json.octet(']')));
        }
        default -> throw Requests.notAllowed("GET");
      };
    }

    /** Appends the running tasks with commas between them. */
    void append(JsonBuffer json) {
      List<TaskState> running = tasks.running();
      for (int i = 0; i < running.size(); i++) {
        append(running.get(i), json.ascii(i == 0 ? "" : ","));
      }
    }

    /** Clients take a task's pid for its name. What has no database has an empty one. */
    private void append(TaskState task, JsonBuffer json) {
      json.ascii("{\"node\":").string(membership.self());
      json.ascii(",\"pid\":").string("<0." + task.number() + ".0>");
      json.ascii(",\"type\":").string(task.type());
      json.ascii(",\"database\":").string(task.subject());
      task.details()
          .forEach((name, value) -> json.ascii(",\"").ascii(name).ascii("\":").string(value));
      json.ascii(",\"started_on\":").number(task.started().getEpochSecond());
      json.ascii(",\"updated_on\":").number(task.updated().getEpochSecond());
      json.ascii(",\"changes_done\":").number(task.done());
      task.total().ifPresent(total -> json.ascii(",\"total_changes\":").number(total));
      task.progress().ifPresent(percent -> json.ascii(",\"progress\":").number(percent));
      json.octet('}');
    }
  }
}
