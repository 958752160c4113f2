package lectus.http.api;

import io.vertx.core.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.account.AdminChanges;
import lectus.account.ReplicatorDocuments;
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
import lectus.http.OtherMembers.Membership;
import lectus.http.Reply;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.PublicUrl;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.Services;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/** The resources of the server as a whole, and the pages and files that it shows. */
public final class ServerApi {
  private static final int MAX_SETUP_BYTES = 16 << 10;
  private static final String DATABASES = "ensure_dbs_exist";
  private static final List<DatabaseName> OF_SYSTEM =
      List.of(UserDocuments.USERS, ReplicatorDocuments.REPLICATOR);

  /** Relative, since a proxy may have put another path before it. */
  private static final Reply DASHBOARD = Reply.empty(302).with(Headers.LOCATION, "_lectus/");

  private static final Reply UP = Reply.json(200, "{\"status\":\"ok\",\"seeds\":{}}");

  /** Those of CouchDB 3.5. Fauxton makes functions of texts, and styles in its elements. */
  private static final List<Reply.Header> OF_UTILS =
      List.of(
          new Reply.Header(Headers.CACHE_CONTROL, "private, must-revalidate"),
          new Reply.Header(
              "Content-Security-Policy",
              "child-src 'self' data: blob:; default-src 'self'; img-src 'self' data:;"
                  + " font-src 'self'; script-src 'self' 'unsafe-eval';"
                  + " style-src 'self' 'unsafe-inline'; frame-src https://blog.couchdb.org;"));

  private final Services.Server server;
  private final Membership membership;
  private final Catalogue catalogue;
  private final DatabaseNotifications events;
  private final AdminChanges admins;
  private final NodeApi node;
  private final DeletedApi deleted;
  private final RelocationResource relocations;
  private final Resource utils;
  private final Reply welcome;

  public ServerApi(Services services, HttpSettings settings) {
    this.server = services.server();
    this.membership = server.membership();
    this.catalogue = services.databases().catalogue();
    this.events = services.databases().events();
    this.admins = services.users().accounts().admins();
    this.node = new NodeApi(services, settings);
    this.deleted = new DeletedApi(services);
    this.relocations = new RelocationResource(services.databases());
    this.utils =
        settings
            .server()
            .utils()
            .<Resource>map(folder -> new FolderResource(folder, OF_UTILS))
            .orElse(ServerApi::withoutUtils);
    this.welcome = welcome(server.storeId(), settings.server().version());
  }

  /** Returns the resources without others below them. */
  public Map<String, Resource> atTop() {
    return Map.of(
        "_up", this::up,
        "_active_tasks", node::tasks,
        "_membership", this::members,
        "_cluster_setup", this::setUp);
  }

  /** Returns the resources that answer for everything below their names. */
  public Map<String, Resource> trees() {
    return Map.of(
        "_example",
        PackagedPage.example(),
        "_lectus",
        PackagedPage.dashboard(),
        "_utils",
        utils,
        "_node",
        node::serve,
        SchedulerResource.NAME,
        node.scheduler(),
        "_deleted_dbs",
        deleted::serve,
        "_relocations",
        relocations::serve);
  }

  /**
   * {@code /}: the server's greeting; a browser is led to the dashboard. The version is that of the
   * CouchDB API which Lectus speaks.
   */
  public void root(Exchange exchange) {
    Requests.allow(exchange, "GET,HEAD");
    exchange.reply(isBrowser(exchange) ? DASHBOARD : welcome);
  }

  /**
   * @param version of this server, not of the API
   */
  private static Reply welcome(String storeId, String version) {
    JsonBuffer json = new JsonBuffer(256);
    json.ascii("{\"couchdb\":\"Welcome\",\"version\":").string(HttpSettings.API_VERSION);
    json.ascii(",\"git_sha\":").string(version);
    json.ascii(",\"uuid\":").string(storeId);
    json.ascii(
        ",\"features\":[\"atomic_bulk_docs\",\"fields\",\"known_revisions\",\"named_stubs\"]");
    json.ascii(",\"vendor\":{\"name\":\"Lectus\"");
    return Reply.json(200, json.ascii(",\"version\":").string(version).ascii("}}"));
  }

  /** Java's HttpURLConnection names pages first, too, but never images as a browser does. */
  private static boolean isBrowser(Exchange exchange) {
    String accepted = String.join(",", exchange.request().headers().getAll(HttpHeaders.ACCEPT));
    return accepted.startsWith("text/html") && !accepted.contains("image/gif");
  }

  /**
   * {@code /_up}, for load balancers: 200 as long as the store is well, else 503. It needs no
   * reader's thread, so it answers even when all of them wait for the store.
   */
  private void up(Exchange exchange) {
    Requests.allow(exchange, "GET,HEAD");
    server
        .pulse()
        .ask()
        .thenAccept(
            complaint ->
                exchange
                    .context()
                    .runOnContext(
                        none ->
                            exchange.reply(
                                complaint
                                    .map(it -> Reply.error(new LectusError.Unavailable(it)))
                                    .orElse(UP))));
  }

  /**
   * {@code /_membership}: the living members. CouchDB lists the nodes that it is connected to, and
   * those that ought to be there. Members are not enrolled here, so both lists are the same.
   */
  private void members(Exchange exchange) {
    Requests.allow(exchange, "GET");
    List<String> members = membership.members();
    JsonBuffer json = new JsonBuffer(128);
    json.ascii("{\"all_nodes\":").strings(members);
    json.ascii(",\"cluster_nodes\":").strings(members);
    exchange.reply(Reply.json(200, json.octet('}')));
  }

  /**
   * {@code /_cluster_setup}, for CouchDB's wizard and scripts: servers are set up by their
   * configuration, and all that is left to do is to make the databases of the system, and the admin
   * who is named.
   */
  private void setUp(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> {
        List<DatabaseName> wanted = names(exchange.query().json(DATABASES));
        exchange.answer(() -> Reply.json(200, "{\"state\":\"" + state(wanted) + "\"}"));
      }
      case POST -> {
        Requests.wantJson(exchange);
        exchange
            .body(MAX_SETUP_BYTES)
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
    switch (request.textOf("action").orElse("")) {
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
    Optional<String> name = request.textOf("username");
    Optional<String> password = request.textOf("password");
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

  private static List<DatabaseName> names(Optional<JsonValue> given) {
    return given.map(ServerApi::names).orElse(OF_SYSTEM);
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

  /** {@code /_utils/} where no administrator has named a folder with CouchDB's Fauxton. */
  private static void withoutUtils(Exchange exchange) {
    Requests.allow(exchange, "GET,HEAD");
    boolean isAlone = exchange.target().segments().size() == 1;
    if (isAlone && !exchange.request().path().endsWith("/")) {
      exchange.reply(
          Reply.empty(301).with(Headers.LOCATION, PublicUrl.ofPath(exchange, "/_utils/")));
      return;
    }
    throw LectusException.notFound(
        isAlone
            ? "There is no administration interface here. For Fauxton: npm pack fauxton && tar xf"
                + " fauxton-*.tgz, then start Lectus with --utils package/dist/release. Its own"
                + " page is /_lectus/."
            : "missing");
  }
}
