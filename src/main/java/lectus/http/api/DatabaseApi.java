package lectus.http.api;

import com.fasterxml.jackson.core.JsonToken;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import lectus.changes.page.DatabaseInfo;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.TouchedShards;
import lectus.database.Catalogue;
import lectus.database.CreationOptions;
import lectus.database.DatabaseConfiguration;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.NameRange;
import lectus.database.Partition;
import lectus.database.Sequence;
import lectus.database.UserContext;
import lectus.database.UserContext.DatabaseRight;
import lectus.derived.FeedDefinition;
import lectus.derived.rows.FeedCatalogue;
import lectus.document.DocumentId;
import lectus.document.PagedBody;
import lectus.document.RequestJson;
import lectus.document.read.AllDocs;
import lectus.document.read.AllDocsQuery;
import lectus.document.read.AllDocsQuery.ListKey;
import lectus.document.read.AllDocsQuery.Listing;
import lectus.document.write.AutoPurge;
import lectus.error.LectusException;
import lectus.http.Headers;
import lectus.http.Method;
import lectus.http.QueryParameters;
import lectus.http.Reply;
import lectus.http.auth.DatabaseGuard;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.PublicUrl;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.Services;
import lectus.http.exchange.StreamedBody;
import lectus.json.JsonBuffer;
import lectus.json.JsonInput;
import lectus.json.JsonValue;
import lectus.store.TransactionRunner.CommitResult;

/** The resources of databases, of what belongs to each, and of lists of databases. */
public final class DatabaseApi {
  private static final int MAX_INFO_KEYS = 100;
  private static final byte[] EVERYBODYS = "{}".getBytes(StandardCharsets.UTF_8);

  /** A long holds any number of this many digits. */
  private static final int MAX_DIGITS = 18;

  /** What documents' ids begin with that take two names of a path. */
  private static final Set<String> LONG_IDS = Set.of("_design", "_local");

  /** Where a path below a partition says that it is about a view. */
  private static final int VIEW = 5;

  private final Services services;
  private final Catalogue catalogue;
  private final DatabaseInfo info;
  private final DatabaseNotifications events;
  private final DatabaseGuard guard;

  public DatabaseApi(Services services, DatabaseGuard guard) {
    this.services = services;
    this.catalogue = services.databases().catalogue();
    this.info = services.databases().info();
    this.events = services.databases().events();
    this.guard = guard;
  }

  public Map<String, Resource> atTop() {
    return Map.of("_all_dbs", this::names, "_dbs_info", this::infos);
  }

  /**
   * Returns the resources below a database that answer for everything below their names.
   *
   * @param queries what answers for a partition, too, by name
   */
  public Map<String, Resource> trees(Map<String, Resource> queries) {
    return Map.of(
        "_partition", exchange -> partition(exchange, queries),
        "_compact", this::compact,
        "_feeds", this::feeds);
  }

  public Map<String, Resource> inDatabase() {
    return Map.of(
        "_image", new ImageResource(services.databases())::serve,
        "_revs_limit", this::revsLimit,
        "_security", this::security,
        "_view_cleanup", this::cleanUp,
        "_auto_purge", this::autoPurge,
        "_purged_infos", this::purgedInfos,
        "_purged_infos_limit", this::purgedInfosLimit,
        "_ensure_full_commit", this::ensureFullCommit);
  }

  /**
   * {@code /{db}}.
   *
   * @param creation answers a {@code POST}, which creates a document
   */
  public Resource database(Resource creation) {
    return exchange -> {
      switch (exchange.method()) {
        case GET, HEAD -> {
          DatabaseRequest asked = exchange.database();
          exchange.answerJson(out -> info.append(asked, out));
        }
        case PUT -> create(exchange, DatabaseName.of(exchange.segment(0)));
        case DELETE -> delete(exchange, exchange.databaseName());
        case POST -> creation.serve(exchange);
        default -> throw Requests.notAllowed("DELETE,GET,HEAD,POST");
      }
    };
  }

  private void create(Exchange exchange, DatabaseName name) {
    CreationOptions options = options(name, exchange.query());
    String location = PublicUrl.location(exchange, name.text());
    exchange.answerChange(
        () -> {
          events.publishCreated(catalogue.create(name, options).instance(), name);
          return Reply.ok(201).with(Headers.LOCATION, location);
        });
  }

  private static CreationOptions options(DatabaseName name, QueryParameters query) {
    checkCluster(query);
    boolean partitioned = isPartitioned(query);
    if (partitioned && name.isSystem()) {
      throw LectusException.badRequest("Cannot partition a system database");
    }
    return new CreationOptions(partitioned, changesShards(query), layout(query));
  }

  /**
   * Checks CouchDB's parameters for spreading a database over its cluster; they have no effect
   * here.
   */
  private static void checkCluster(QueryParameters query) {
    for (String name : new String[] {"n", "q"}) {
      if (!isPositive(query.text(name).orElse("1"))) {
        throw LectusException.badRequest("The `" + name + "` value should be a positive integer.");
      }
    }
    boolean isPlacement =
        Arrays.stream(query.text("placement").orElse("zone:1").split(","))
            .allMatch(rule -> rule.matches("[^:]+:[^:]+") && isPositive(rule.split(":")[1]));
    if (!isPlacement) {
      throw LectusException.badRequest("The `placement` value should be in a format `zone:n`.");
    }
  }

  private static boolean isPositive(String number) {
    return number.matches("[+]?0*[1-9][0-9]*");
  }

  private static int changesShards(QueryParameters query) {
    String shards = query.get("changes_shards");
    try {
      return shards == null ? CreationOptions.DEFAULT.changesShards() : Integer.parseInt(shards);
    } catch (NumberFormatException e) {
      throw CreationOptions.badChangesShards();
    }
  }

  private static Optional<BodyLayout> layout(QueryParameters query) {
    Optional<BodyLayout> layout = query.text("layout").flatMap(BodyLayout::named);
    if (query.text("layout").isPresent() && layout.isEmpty()) {
      throw LectusException.badRequest("The `layout` value should be inline or rfc004.");
    }
    return layout;
  }

  private static boolean isPartitioned(QueryParameters query) {
    return switch (query.text("partitioned").orElse("false")) {
      case "true" -> true;
      case "false" -> false;
      default -> throw LectusException.badRequest("Invalid `partitioned` parameter");
    };
  }

  /** With {@code rev} the client meant a document, whose id was empty by mistake. */
  private void delete(Exchange exchange, DatabaseName name) {
    if (exchange.query().get("rev") != null) {
      throw LectusException.badRequest(
          "You tried to DELETE a database with a ?=rev parameter. Did you mean to DELETE a document"
              + " instead?");
    }
    exchange.answerChange(
        () -> {
          events.publishDeleted(catalogue.delete(name).value(), name);
          return Reply.ok(200);
        });
  }

  /** {@code /_all_dbs}: the names of all databases that the user may read, page by page. */
  private void names(Exchange exchange) {
    Requests.allow(exchange, "GET,HEAD");
    VisibleNames names = visible(exchange);
    if (exchange.user().isServerAdmin()) {
      exchange.streamTagged(() -> StreamedBody.tagged(catalogue.version(), new Names(names)));
    } else {
      exchange.stream(() -> new Names(names));
    }
  }

  /**
   * Returns the databases in the range that the parameters name. In CouchDB these are lists of
   * documents, so the parameters are those of {@code _all_docs}.
   */
  private VisibleNames visible(Exchange exchange) {
    AllDocsQuery list = AllDocsQuery.parse(Listing.ALL, exchange.query().asMap(), null);
    NameRange range =
        new NameRange(
            list.start().map(DatabaseApi::bound),
            list.end().map(DatabaseApi::bound),
            list.inclusiveEnd(),
            list.descending(),
            list.skip(),
            list.limit());
    return new VisibleNames(catalogue, guard, exchange.user(), range);
  }

  /** A key that is not a string sorts before all names, as it does among documents. */
  private static String bound(ListKey key) {
    return key.json() instanceof JsonValue.JsonString name ? name.value() : "";
  }

  private static final class Names implements PagedBody {
    private final VisibleNames names;
    private String separator = "[";

    Names(VisibleNames names) {
      this.names = names;
    }

    @Override
    public boolean appendNext(JsonBuffer out) {
      for (DatabaseName name : names.next()) {
        out.ascii(separator).string(name.text());
        separator = ",";
      }
      if (!names.rest.isPresent()) {
        out.ascii(separator.equals("[") ? "[]\n" : "]\n");
      }
      return names.rest.isPresent();
    }
  }

  /** {@code /_dbs_info}: the answers of {@code GET /{db}} for many databases. */
  private void infos(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> {
        VisibleNames names = visible(exchange);
        exchange.stream(() -> new InfosOfRange(names, info));
      }
      case POST -> {
        Requests.wantJson(exchange);
        UserContext user = exchange.user();
        exchange.answerBody(body -> Reply.json(200, infos(user, keys(body))));
      }
      default -> throw Requests.notAllowed("GET,HEAD,POST");
    }
  }

  private static List<JsonValue> keys(byte[] body) {
    JsonValue keys =
        RequestJson.object(body)
            .get("keys")
            .orElseThrow(() -> LectusException.badRequest("`keys` member must exist."));
    if (!(keys instanceof JsonValue.JsonArray array)) {
      throw LectusException.badRequest("`keys` member must be an array.");
    }
    if (array.elements().size() > MAX_INFO_KEYS) {
      throw LectusException.badRequest("too_many_keys");
    }
    return array.elements();
  }

  private JsonBuffer infos(UserContext user, List<JsonValue> keys) {
    List<Optional<DatabaseName>> names = keys.stream().map(DatabaseApi::named).toList();
    Iterator<Optional<JsonBuffer>> infos =
        info.read(
                names.stream()
                    .flatMap(Optional::stream)
                    .map(name -> guard.ifVisible(user, name))
                    .toList())
            .iterator();
    JsonBuffer out = new JsonBuffer(512 * keys.size());
    out.octet('[');
    for (int i = 0; i < keys.size(); i++) {
      keys.get(i).writeTo(out.ascii(i == 0 ? "{\"key\":" : ",{\"key\":"));
      names
          .get(i)
          .flatMap(name -> infos.next())
          .ifPresentOrElse(
              json -> out.ascii(",\"info\":").raw(json.array(), 0, json.length()).octet('}'),
              () -> out.ascii(",\"error\":\"not_found\"}"));
    }
    return out.octet(']');
  }

  private static Optional<DatabaseName> named(JsonValue key) {
    return Optional.of(key instanceof JsonValue.JsonString text ? text.value() : "")
        .filter(DatabaseName::isLegal)
        .map(DatabaseName::of);
  }

  /** {@code /{db}/_partition/{partition}} and the paths below it. */
  private void partition(Exchange exchange, Map<String, Resource> queries) {
    DatabaseRequest database = exchange.database();
    List<String> segments = exchange.target().segments();
    if (segments.size() == 2) {
      throw LectusException.badRequest("invalid_partition_req");
    }
    Partition partition = Partition.of(segments.get(2));
    if (segments.size() == 3) {
      Requests.allow(exchange, "GET");
      exchange.answerJson(out -> info.append(database, partition, out));
    } else if (segments.get(3).equals("_all_docs")) {
      listPartition(exchange, database, parameters(exchange, partition));
    } else if (segments.size() == 4 && queries.containsKey(segments.get(3))) {
      queries.get(segments.get(3)).serve(exchange);
    } else if (segments.size() > VIEW && segments.get(VIEW).equals("_view")) {
      queries.get(segments.get(3)).serve(exchange);
    } else {
      throw LectusException.notFound("missing");
    }
  }

  private void listPartition(
      Exchange exchange, DatabaseRequest database, Map<String, String> parameters) {
    boolean queries = exchange.target().segments().size() == 5;
    if (exchange.target().segments().size() > 5
        || (queries && !exchange.segment(4).equals("queries"))) {
      throw LectusException.notFound("missing");
    }
    if (exchange.method() == Method.POST) {
      Requests.wantJson(exchange);
      exchange.streamBody(
          body ->
              queries
                  ? partitioned(database)
                      .answers(database, AllDocsQuery.parseQueries(Listing.ALL, parameters, body))
                  : partitioned(database)
                      .answer(database, AllDocsQuery.parse(Listing.ALL, parameters, body)));
    } else {
      Requests.allow(exchange, queries ? "POST" : "GET,HEAD,POST");
      exchange.stream(
          () ->
              partitioned(database)
                  .answer(database, AllDocsQuery.parse(Listing.ALL, parameters, null)));
    }
  }

  private AllDocs partitioned(DatabaseRequest database) {
    DatabaseInfo.checkPartitioned(catalogue.open(database.name()));
    return services.documents().lists();
  }

  private static Map<String, String> parameters(Exchange exchange, Partition partition) {
    Map<String, String> parameters = new LinkedHashMap<>(exchange.query().asMap());
    String other = parameters.put("partition", partition.name());
    if (other != null && !other.equals(partition.name())) {
      throw LectusException.badRequest("Conflicting value for `partition` in query string");
    }
    return parameters;
  }

  /** {@code /{db}/_purged_infos}: what was purged lately. */
  private void purgedInfos(Exchange exchange) {
    DatabaseRequest database = exchange.database();
    Requests.allow(exchange, "GET");
    exchange.stream(() -> info.purges(database));
  }

  /** {@code /{db}/_ensure_full_commit}: every acknowledged write is on disk already. */
  private void ensureFullCommit(Exchange exchange) {
    Requests.wantPostOfJson(exchange);
    DatabaseName database = exchange.databaseName();
    exchange.answerBody(
        ignored ->
            Reply.json(
                201,
                "{\"ok\":true,\"instance_start_time\":\"%s\"}"
                    .formatted(catalogue.open(database).createdAtSeconds())));
  }

  /**
   * {@code /{db}/_view_cleanup}: removes indexes of views that no design document refers to.
   * Mango's go with their definitions.
   */
  private void cleanUp(Exchange exchange) {
    Requests.allow(exchange, "POST");
    DatabaseRequest database = exchange.database();
    exchange.answerBody(
        ignored -> {
          services.views().cleanUp(database);
          return Reply.ok(202);
        });
  }

  /**
   * {@code /{db}/_compact} and {@code /{db}/_compact/{designDocument}}. Stores free their space by
   * themselves, so there is nothing to do; the client is told that compaction was started.
   */
  private void compact(Exchange exchange) {
    Requests.wantPostOfJson(exchange);
    DatabaseRequest database = exchange.database();
    List<String> path = exchange.target().segments();
    exchange.answerBody(
        ignored -> {
          if (path.size() == 2) {
            return accepted(database.name());
          }
          String design = DocumentId.DESIGN_PREFIX + path.get(2);
          services.documents().reader().currentRevision(database, design);
          return Reply.ok(202);
        });
  }

  private Reply accepted(DatabaseName database) {
    catalogue.open(database);
    return Reply.ok(202);
  }

  /** {@code /{db}/_auto_purge}: for how long tombstones are kept. */
  private void autoPurge(Exchange exchange) {
    AutoPurge settings = info.autoPurge();
    switch (exchange.method()) {
      case GET, HEAD -> {
        DatabaseRequest database = exchange.database();
        exchange.answer(() -> Reply.json(200, settings.get(database)));
      }
      case PUT -> {
        DatabaseName database = exchange.databaseName();
        exchange.answerBodyByChange(
            body -> {
              settings.put(database, body);
              return Reply.ok(201);
            });
      }
      default -> throw Requests.notAllowed("GET,PUT,HEAD");
    }
  }

  /** {@code /{db}/_purged_infos_limit}: the number of purges to remember. */
  private void purgedInfosLimit(Exchange exchange) {
    limit(
        exchange,
        "GET,PUT",
        DatabaseConfiguration::purgedInfosLimit,
        text -> {
          if (text.length() > MAX_DIGITS || !text.matches("[1-9][0-9]*")) {
            throw LectusException.badRequest("`purged_infos_limit` must be positive integer");
          }
          long limit = Long.parseLong(text);
          return before -> before.withPurgedInfosLimit(limit);
        });
  }

  /** {@code /{db}/_revs_limit}: the number of ancestors that an edit branch keeps. */
  private void revsLimit(Exchange exchange) {
    limit(
        exchange,
        "PUT,GET",
        DatabaseConfiguration::revsLimit,
        text -> {
          int limit = text.isEmpty() || text.length() >= 10 ? 0 : Integer.parseInt(text);
          if (limit < 1 || limit > DatabaseConfiguration.MAX_REVS_LIMIT) {
            throw LectusException.badRequest(
                "_revs_limit must be a whole number from 1 to %s."
                    .formatted(DatabaseConfiguration.MAX_REVS_LIMIT));
          }
          return before -> before.withRevsLimit(limit);
        });
  }

  /**
   * A number that belongs to a database's configuration.
   *
   * @param change returns what becomes of the configuration with such digits; empty if the client
   *     sent something else
   */
  private void limit(
      Exchange exchange,
      String methods,
      ToLongFunction<DatabaseConfiguration> current,
      Function<String, UnaryOperator<DatabaseConfiguration>> change) {
    DatabaseName database = exchange.databaseName();
    switch (exchange.method()) {
      case GET, HEAD ->
          exchange.answer(
              () -> {
                DatabaseConfiguration set = catalogue.open(database).configuration();
                return Reply.json(200, Long.toString(current.applyAsLong(set)));
              });
      case PUT ->
          exchange.answerBodyByChange(
              body -> {
                catalogue.configure(database, change.apply(wholeNumber(body)));
                return Reply.ok(200);
              });
      default -> throw Requests.notAllowed(methods);
    }
  }

  /** Returns the digits of a body that is a whole number; empty if it is anything else. */
  private static String wholeNumber(byte[] body) {
    try (JsonInput input = JsonInput.of(body)) {
      if (input.next() != JsonToken.VALUE_NUMBER_INT) {
        return "";
      }
      String text = input.text();
      input.expectEnd();
      return text;
    }
  }

  /** {@code /{db}/_feeds} and {@code /{db}/_feeds/{name}}: stored feeds. */
  private void feeds(Exchange exchange) {
    DatabaseRequest database = exchange.database();
    List<String> path = exchange.target().segments();
    if (path.size() == 2) {
      Requests.allow(exchange, "GET,HEAD");
      exchange.answer(() -> Reply.json(200, services.databases().storedFeeds().list(database)));
    } else if (path.size() == 3) {
      feed(exchange, database, path.get(2));
    } else {
      throw LectusException.notFound("missing");
    }
  }

  private void feed(Exchange exchange, DatabaseRequest database, String name) {
    FeedCatalogue feeds = services.databases().storedFeeds();
    switch (exchange.method()) {
      case GET, HEAD -> exchange.answer(() -> Reply.json(200, feeds.one(database, name)));
      case PUT ->
          exchange.answerBodyByChange(
              body -> {
                FeedDefinition definition = FeedDefinition.parse(name, RequestJson.object(body));
                return Reply.ok(feeds.put(database.name(), definition) ? 201 : 200);
              });
      case DELETE ->
          exchange.answerChange(
              () -> {
                wakeReaders(feeds.delete(database.name(), name));
                return Reply.ok(200);
              });
      default -> throw Requests.notAllowed("DELETE,GET,HEAD,PUT");
    }
  }

  /** Wakes feeds, so that those end that may no longer be read, or are gone. */
  private void wakeReaders(CommitResult<DatabaseHandle> changed) {
    DatabaseHandle db = changed.value();
    Sequence sequence = Sequence.of(db.incarnation(), changed.versionstamp(), 0);
    events.publishUpdated(db.instance(), db.name(), sequence, TouchedShards.ANY);
  }

  /**
   * A name that neither a database nor a document or attachment can have, because it is not UTF-8,
   * or begins with an underscore and is not known. Reads find nothing, writes are refused; CouchDB
   * looks for a document that is to be deleted, and refuses an attachment.
   */
  public void unusableName(Exchange exchange) {
    List<String> path = exchange.target().segments();
    if (path.size() == 1 && exchange.method() == Method.PUT) {
      DatabaseName.of(path.get(0));
    }
    DatabaseName database = exchange.databaseName();
    LectusException answer =
        switch (exchange.method()) {
          case GET, HEAD -> LectusException.notFound("missing");
          case DELETE ->
              isUtf8Attachment(exchange)
                  ? LectusException.notFound("missing")
                  : refusal(exchange, path.get(1));
          case PUT -> refusal(exchange, path.get(1));
          default -> Requests.notAllowed("DELETE,GET,HEAD,PUT");
        };
    exchange.answer(
        () -> {
          catalogue.open(database);
          throw answer;
        });
  }

  /** Whether an attachment's name, if the path has one, is UTF-8. */
  private static boolean isUtf8Attachment(Exchange exchange) {
    return exchange.target().isUtf8From(LONG_IDS.contains(exchange.segment(1)) ? 3 : 2);
  }

  private static LectusException refusal(Exchange exchange, String name) {
    boolean isUtf8Attachment = isUtf8Attachment(exchange);
    if (DocumentId.isLocal(name) || (name.equals("_local") && !isUtf8Attachment)) {
      return LectusException.badRequest("_local documents do not accept attachments.");
    }
    if (!isUtf8Attachment) {
      return LectusException.badRequest("Attachment name is not UTF-8 encoded");
    }
    return LectusException.badRequest(
        "illegal_docid",
        exchange.target().isUtf8From(0)
            ? "Only reserved document ids may start with underscore."
            : "Document id must be valid UTF-8");
  }

  /** {@code /{db}/_security}: who may use the database. */
  private void security(Exchange exchange) {
    DatabaseName database = exchange.databaseName();
    switch (exchange.method()) {
      case GET, HEAD ->
          exchange.answer(() -> Reply.json(200, new JsonBuffer(256).raw(securityOf(database))));
      case PUT -> exchange.answerBodyByChange(body -> secure(database, body));
      default -> throw Requests.notAllowed("PUT,GET");
    }
  }

  private byte[] securityOf(DatabaseName database) {
    boolean isUnset = catalogue.open(database).security().isEmpty();
    return isUnset && guard.leavesUnsetToEverybody()
        ? EVERYBODYS.clone()
        : catalogue.security(database);
  }

  private Reply secure(DatabaseName database, byte[] body) {
    if (body.length > Catalogue.MAX_SECURITY_BYTES) {
      throw LectusException.tooLarge(
          "too_large",
          "The security object takes %s bytes, the limit is %s."
              .formatted(body.length, Catalogue.MAX_SECURITY_BYTES));
    }
    services.users().accounts().userEdits().checkSecurityMayChange(database);
    wakeReaders(catalogue.secure(database, body));
    return Reply.ok(200);
  }

  /**
   * The rows of {@code _dbs_info} about the databases of a range. One that is deleted or hidden
   * meanwhile is left out.
   */
  static final class InfosOfRange implements PagedBody {
    /** Each row costs a handful of reads, all of which are begun together, so a page is small. */
    private static final int ROWS_PER_PAGE = 50;

    private final Deque<DatabaseName> names = new ArrayDeque<>();
    private final VisibleNames visible;
    private final DatabaseInfo info;
    private String separator = "[";

    InfosOfRange(VisibleNames visible, DatabaseInfo info) {
      this.visible = visible;
      this.info = info;
    }

    @Override
    public boolean appendNext(JsonBuffer out) {
      if (names.isEmpty() && visible.rest.isPresent()) {
        names.addAll(visible.next());
      }
      List<DatabaseRequest> page = new ArrayList<>();
      while (page.size() < ROWS_PER_PAGE && !names.isEmpty()) {
        page.add(visible.asked(names.remove()));
      }
      List<Optional<JsonBuffer>> infos = info.read(page);
      for (int i = 0; i < page.size(); i++) {
        String name = page.get(i).name().text();
        infos.get(i).ifPresent(json -> appendRow(name, json, out));
      }
      boolean more = !names.isEmpty() || visible.rest.isPresent();
      if (!more) {
        out.ascii(separator.equals("[") ? "[]\n" : "]\n");
      }
      return more;
    }

    private void appendRow(String name, JsonBuffer json, JsonBuffer out) {
      out.ascii(separator).ascii("{\"key\":").string(name).ascii(",\"info\":");
      out.raw(json.array(), 0, json.length()).octet('}');
      separator = ",";
    }
  }

  /**
   * The names of the databases in a range that a user may read, page by page. Those that the user
   * may not read count neither as skipped nor as listed.
   */
  static final class VisibleNames {
    /** Each database costs a look at its security. */
    private static final int JUDGED_AT_ONCE = 100;

    private final Catalogue catalogue;
    private final DatabaseGuard guard;
    private final UserContext user;
    Optional<NameRange> rest;
    private Optional<String> last = Optional.empty();
    private long toSkip;
    private long toList;

    VisibleNames(Catalogue catalogue, DatabaseGuard guard, UserContext user, NameRange range) {
      this.catalogue = catalogue;
      this.guard = guard;
      this.user = user;
      this.rest = Optional.of(range);
      this.toSkip = range.skip();
      this.toList = range.limit();
    }

    /** Returns the next names; there may be none, and more to come. */
    List<DatabaseName> next() {
      if (!user.isServerAdmin()) {
        return nextJudged(rest.orElseThrow());
      }
      NameRange.Page page = catalogue.names(rest.orElseThrow());
      rest = page.next();
      return page.names();
    }

    /** Returns one of the names, to be read if the user still may when that is done. */
    DatabaseRequest asked(DatabaseName name) {
      return guard.ifVisible(user, name);
    }

    private List<DatabaseName> nextJudged(NameRange range) {
      List<DatabaseName> names = catalogue.names(part(range)).names();
      List<DatabaseName> visible = shown(visible(names));
      if (names.size() < JUDGED_AT_ONCE || toList == 0) {
        rest = Optional.empty();
      } else {
        last = Optional.of(names.get(names.size() - 1).text());
      }
      return visible;
    }

    /** The last name is read again and skipped, so that both directions continue the same way. */
    private NameRange part(NameRange range) {
      return new NameRange(
          last.or(range::start),
          range.end(),
          range.inclusiveEnd(),
          range.descending(),
          last.isPresent() ? 1 : 0,
          JUDGED_AT_ONCE);
    }

    private List<DatabaseName> visible(List<DatabaseName> names) {
      return catalogue.glimpses(names).stream()
          .filter(db -> guard.judge(user, db).includes(DatabaseRight.MEMBER))
          .map(DatabaseHandle::name)
          .toList();
    }

    private List<DatabaseName> shown(List<DatabaseName> visible) {
      int from = (int) Math.min(toSkip, visible.size());
      toSkip -= from;
      int count = (int) Math.min(toList, visible.size() - from);
      toList -= count;
      return visible.subList(from, from + count);
    }
  }
}
