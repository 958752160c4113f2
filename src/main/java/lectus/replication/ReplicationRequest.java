package lectus.replication;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import lectus.changes.filter.FeedFilter;
import lectus.changes.page.FeedPosition;
import lectus.database.DatabaseName;
import lectus.error.LectusException;
import lectus.http.client.RemoteAddress;
import lectus.http.client.RemoteAddress.Login;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonNull;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.replication.Checkpoints.Place;

/**
 * A replication as somebody asks for it: the body of {@code _replicate}, or a document of {@code
 * _replicator}. Members that it does not know are not looked at.
 *
 * @param choice which documents
 */
public record ReplicationRequest(End source, End target, Choice choice, Options options) {
  /** More bytes of ids, or of a selector, fit into no request to the source. */
  private static final int MAX_CHOICE_BYTES = 8 << 20;

  /** A database at one end. */
  public sealed interface End {
    /** Returns how it is shown to people, without a password. */
    String shown();

    /** A database of this store. */
    record Local(DatabaseName name) implements End {
      @Override
      public String shown() {
        return name.text();
      }
    }

    /** A database behind HTTP. */
    record Remote(RemoteAddress address) implements End {
      @Override
      public String shown() {
        return address.url().toString();
      }
    }
  }

  /** Which documents are replicated. */
  public sealed interface Choice {
    record Everything() implements Choice {}

    /**
     * @param ids in the order of their bytes, each once
     */
    record Ids(List<String> ids) implements Choice {}

    record OfSelector(JsonObject selector) implements Choice {}

    /**
     * A function of a design document of the source, or a filter that has a name of its own, such
     * as {@code _view}.
     *
     * @param parameters of the request to the source, in their order
     */
    record OfFilter(String name, JsonObject parameters) implements Choice {
      /** Returns the design document's id and the filter's name; empty if it is none of these. */
      public Optional<List<String>> function() {
        int slash = name.indexOf('/');
        return name.startsWith("_") || slash < 0
            ? Optional.empty()
            : Optional.of(
                List.of("_design/" + name.substring(0, slash), name.substring(slash + 1)));
      }
    }
  }

  /**
   * How it is done.
   *
   * @param creation the parameters with which the target is created; empty: it has to be there
   * @param winnersOnly whether of each document only its winning revision is taken
   * @param since where to begin, whatever checkpoints say, as the source gave it
   * @param place where the run before has ended, if no checkpoint says so
   */
  public record Options(
      boolean continuous,
      boolean cancel,
      Optional<String> id,
      Optional<JsonObject> creation,
      boolean winnersOnly,
      Optional<JsonValue> since,
      Optional<Place> place,
      boolean usesCheckpoints,
      long checkpointMillis,
      boolean usesBulkGet,
      int workers,
      int batch,
      int connections,
      long patienceMillis,
      int retries) {
    private Options of(
        boolean isContinuous, Optional<JsonValue> beginning, Optional<Place> former) {
      return new Options(
          isContinuous,
          cancel,
          id,
          creation,
          winnersOnly,
          beginning,
          former,
          usesCheckpoints,
          checkpointMillis,
          usesBulkGet,
          workers,
          batch,
          connections,
          patienceMillis,
          retries);
    }
  }

  /**
   * Returns the same request for another run.
   *
   * @param ends whether it ends when everything is replicated
   * @param hasCaughtUp whether a run has copied all that there was, wherever it began
   * @param place where the run before has ended, if no checkpoint says so
   */
  public ReplicationRequest again(boolean ends, boolean hasCaughtUp, Optional<Place> place) {
    Optional<JsonValue> since =
        ends && hasCaughtUp && options.usesCheckpoints() ? Optional.empty() : options.since();
    return new ReplicationRequest(
        source, target, choice, options.of(options.continuous() && !ends, since, place));
  }

  /**
   * CouchDB's section {@code replicator}: what applies where a request says nothing.
   *
   * @param checkpointMillis between two checkpoints
   */
  public record Defaults(
      boolean usesCheckpoints,
      long checkpointMillis,
      boolean usesBulkGet,
      int workers,
      int batch,
      int connections,
      long patienceMillis,
      int retries) {
    public static final Defaults OF_COUCHDB =
        new Defaults(true, 30_000, true, 4, 500, 20, 30_000, 5);
  }

  private static final int HEX = 16;
  private static final char DELETE = 127;
  private static final int MAX_WORKERS = 32;
  private static final int MAX_BATCH = 10_000;
  private static final int MAX_CONNECTIONS = 1_000;
  private static final long MIN_PATIENCE = 1_000;

  /** One that never answers keeps a thread for so long. */
  private static final long MAX_PATIENCE = 300_000;

  private static final long MAX_MILLIS = 86_400_000;
  private static final int MAX_RETRIES = 100;

  /**
   * Parses a request.
   *
   * @throws LectusException {@code bad_request}, with CouchDB's sentences
   */
  public static ReplicationRequest parse(JsonObject body, Defaults defaults) {
    Members members = new Members(body);
    Options options = options(members, defaults);
    Choice choice = choice(members);
    End source = end(body, "source");
    if (source instanceof End.Local) {
      // What another server gives for a position, only that server can read.
      options.since().map(ReplicationRequest::text).ifPresent(FeedPosition::since);
    }
    return new ReplicationRequest(source, end(body, "target"), choice, options);
  }

  /** Returns a position as it stands in a request to the source. */
  static String text(JsonValue since) {
    return since instanceof JsonString text ? text.value() : since.toJson();
  }

  /** Returns why this describes no replication. */
  public static Optional<String> problem(JsonObject body, Defaults defaults) {
    try {
      parse(body, defaults);
      return Optional.empty();
    } catch (LectusException faulty) {
      return Optional.of(faulty.error().reason());
    }
  }

  /**
   * Returns the id that a request to cancel names, and needs no ends; empty if it is another
   * request.
   */
  public static Optional<String> cancelledId(JsonObject body) {
    Members members = new Members(body);
    return members.flag("cancel", false) ? members.id() : Optional.empty();
  }

  /** Returns how it is done if a request says nothing. */
  static Options usual() {
    return options(new Members(new JsonObject(Map.of())), Defaults.OF_COUCHDB);
  }

  private static Options options(Members members, Defaults defaults) {
    boolean creates = members.flag("create_target", false);
    Optional<JsonObject> creation = members.object("create_target_params", "must be a JSON object");
    return new Options(
        members.flag("continuous", false),
        members.flag("cancel", false),
        members.id(),
        creates
            ? creation.or(() -> Optional.of(new JsonObject(Map.of())))
            : Optional.<JsonObject>empty(),
        members.flag("winning_revs_only", false),
        members.get("since_seq"),
        Optional.empty(),
        members.flag("use_checkpoints", defaults.usesCheckpoints()),
        members.number("checkpoint_interval", defaults.checkpointMillis(), 0, MAX_MILLIS),
        members.flag("use_bulk_get", defaults.usesBulkGet()),
        (int) members.number("worker_processes", defaults.workers(), 1, MAX_WORKERS),
        (int) members.number("worker_batch_size", defaults.batch(), 1, MAX_BATCH),
        (int) members.number("http_connections", defaults.connections(), 1, MAX_CONNECTIONS),
        members.number("connection_timeout", defaults.patienceMillis(), MIN_PATIENCE, MAX_PATIENCE),
        (int) members.number("retries_per_request", defaults.retries(), 0, MAX_RETRIES));
  }

  private static Choice choice(Members members) {
    Optional<JsonValue> ids = members.get("doc_ids");
    Optional<JsonObject> selector = members.object("selector", "must be a JSON object");
    Optional<JsonValue> filter = members.get("filter");
    Optional<JsonObject> parameters = members.object("query_params", "must be an object");
    parameters.ifPresent(ReplicationRequest::checkTexts);
    if ((ids.isPresent() ? 1 : 0) + (selector.isPresent() ? 1 : 0) + (filter.isPresent() ? 1 : 0)
        > 1) {
      throw LectusException.badRequest("`doc_ids`,`filter`,`selector` are mutually exclusive");
    }
    if (ids.isPresent()) {
      return new Choice.Ids(ids(ids.get()));
    }
    if (selector.isPresent()) {
      requireShort(selector.get().toBytes().length);
      FeedFilter.selected(selector.get());
      return new Choice.OfSelector(selector.get());
    }
    if (filter.isEmpty()) {
      return new Choice.Everything();
    }
    if (!(filter.get() instanceof JsonString name)
        || !(name.value().startsWith("_") || name.value().indexOf('/') >= 0)) {
      throw LectusException.badRequest("Invalid filter. Must match `ddocname/filtername`.");
    }
    return new Choice.OfFilter(name.value(), parameters.orElseGet(() -> new JsonObject(Map.of())));
  }

  private static void checkTexts(JsonObject parameters) {
    parameters
        .members()
        .forEach(
            (name, value) -> {
              if (!(value instanceof JsonString)) {
                throw LectusException.badRequest(name + " value must be a string.");
              }
            });
  }

  private static List<String> ids(JsonValue value) {
    if (!(value instanceof JsonArray array)) {
      throw LectusException.badRequest("parameter `doc_ids` must be an array");
    }
    Set<String> ids = new HashSet<>();
    long bytes = 0;
    for (JsonValue element : array.elements()) {
      if (!(element instanceof JsonString id)) {
        throw LectusException.badRequest("parameter `doc_ids` must be an array");
      }
      ids.add(unescaped(id.value()));
      bytes += id.value().length();
    }
    requireShort(bytes);
    List<String> sorted = new ArrayList<>(ids);
    sorted.sort(
        Comparator.comparing(id -> id.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned));
    return sorted;
  }

  private static void requireShort(long bytes) {
    if (bytes > MAX_CHOICE_BYTES) {
      throw LectusException.badRequest(
          "`doc_ids` and `selector` have at most " + MAX_CHOICE_BYTES + " bytes");
    }
  }

  /** CouchDB's first replicator took ids as they stand in URLs, and later ones still do. */
  private static String unescaped(String id) {
    if (id.indexOf('%') < 0) {
      return id;
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] given = id.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < given.length; i++) {
      int high = i + 2 < given.length ? Character.digit(given[i + 1], HEX) : -1;
      int low = i + 2 < given.length ? Character.digit(given[i + 2], HEX) : -1;
      if (given[i] == '%' && high >= 0 && low >= 0) {
        bytes.write(high << 4 | low);
        i += 2;
      } else {
        bytes.write(given[i]);
      }
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static End end(JsonObject body, String member) {
    JsonValue value = body.get(member).orElseGet(JsonNull::new);
    if (value instanceof JsonString text) {
      String url = text.value();
      boolean isUrl =
          url.regionMatches(true, 0, "http://", 0, 7)
              || url.regionMatches(true, 0, "https://", 0, 8);
      if (!isUrl && url.indexOf('@') >= 0) {
        // The complaint about a name would have a password in it.
        throw LectusException.badRequest("endpoint has an invalid url");
      }
      return isUrl
          ? new End.Remote(RemoteAddress.of(url, Map.of(), Optional.empty()))
          : new End.Local(DatabaseName.of(url));
    }
    if (!(value instanceof JsonObject object)) {
      throw LectusException.badRequest("Missing replicator database");
    }
    if (!(object.get("url").orElse(null) instanceof JsonString url)) {
      throw LectusException.badRequest("endpoint has an invalid url");
    }
    return new End.Remote(RemoteAddress.of(url.value(), headers(object), login(object)));
  }

  private static Map<String, String> headers(JsonObject end) {
    Map<String, String> headers = new TreeMap<>();
    if (end.get("headers").orElse(null) instanceof JsonObject given) {
      given
          .members()
          .forEach(
              (name, value) -> {
                boolean isHeader =
                    value instanceof JsonString text
                        && name.matches("[A-Za-z0-9!#$%&'*+.^_`|~-]+")
                        && text.value().chars().allMatch(c -> c >= ' ' && c != DELETE);
                if (!isHeader) {
                  throw LectusException.badRequest("endpoint has invalid headers");
                }
                headers.put(name, ((JsonString) value).value());
              });
    }
    return headers;
  }

  private static Optional<Login> login(JsonObject end) {
    return end.get("auth").orElse(null) instanceof JsonObject auth
            && auth.get("basic").orElse(null) instanceof JsonObject basic
            && basic.get("username").orElse(null) instanceof JsonString name
            && basic.get("password").orElse(null) instanceof JsonString password
        ? Optional.of(new Login(name.value(), password.value()))
        : Optional.empty();
  }

  /** The members of a request, read with CouchDB's complaints. */
  private record Members(JsonObject body) {
    /** A member that is null counts as absent. */
    Optional<JsonValue> get(String name) {
      return body.get(name).filter(value -> !(value instanceof JsonNull));
    }

    boolean flag(String name, boolean fallback) {
      return get(name)
          .map(
              value -> {
                if (value instanceof JsonBool flag) {
                  return flag.value();
                }
                throw LectusException.badRequest("parameter `" + name + "` must be a boolean");
              })
          .orElse(fallback);
    }

    Optional<JsonObject> object(String name, String rule) {
      return get(name)
          .map(
              value -> {
                if (value instanceof JsonObject object) {
                  return object;
                }
                throw LectusException.badRequest("parameter `" + name + "` " + rule);
              });
    }

    /** As in CouchDB, a number may be a text. */
    long number(String name, long fallback, long least, long most) {
      return get(name)
          .map(
              value -> {
                String text =
                    value instanceof JsonNumber number
                        ? number.text()
                        : value instanceof JsonString string ? string.value() : "";
                if (!text.matches("[0-9]{1,15}")) {
                  throw LectusException.badRequest("parameter `" + name + "` must be an integer");
                }
                return Math.min(most, Math.max(least, Long.parseLong(text)));
              })
          .orElse(fallback);
    }

    Optional<String> id() {
      return Stream.of("_local_id", "replication_id", "id")
          .flatMap(name -> get(name).stream())
          .filter(JsonString.class::isInstance)
          .map(value -> ((JsonString) value).value().replace(' ', '+'))
          .findFirst();
    }
  }
}
