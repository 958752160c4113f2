package lectus.http.api;

import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import lectus.account.AdminChanges;
import lectus.database.SettingsSubspace.SettingName;
import lectus.error.LectusException;
import lectus.http.Reply;
import lectus.http.exchange.Requests;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/**
 * {@code /_node/{node}/_config}: what is in force, under CouchDB's names. What is set here is the
 * store's, and in force on all of its servers; {@link CouchSettings} has what can be set. In the
 * section {@code admins} are the admins, where CouchDB's clients and containers make them; as in
 * CouchDB, a password is shown as its hash.
 */
final class NodeConfig {
  static final String ADMINS = "admins";

  /** The names in a path to all sections, to one, and to a value. */
  private static final int TO_ALL = 1;

  private static final int TO_SECTION = 2;
  private static final int TO_VALUE = 3;

  private final CouchSettings settings;
  private final AdminChanges admins;

  NodeConfig(CouchSettings settings, AdminChanges admins) {
    this.settings = settings;
    this.admins = admins;
  }

  Future<Reply> answer(NodeRequest request) {
    List<String> path = request.path();
    boolean isOfAdmins = path.size() > TO_ALL && path.get(TO_ALL).equals(ADMINS);
    return switch (path.size()) {
      case TO_ALL -> {
        request.allow("GET");
        yield request.read(() -> Reply.json(200, all()));
      }
      case TO_SECTION -> isOfAdmins ? ofAdmins(request) : ofSection(request, path.get(TO_ALL));
      case TO_VALUE ->
          isOfAdmins
              ? ofAdmin(request, path.get(TO_SECTION))
              : ofValue(request, new SettingName(path.get(TO_ALL), path.get(TO_SECTION)));
      default -> throw LectusException.notFound("missing");
    };
  }

  private JsonBuffer all() {
    JsonBuffer json = new JsonBuffer(2_048);
    Map<String, Map<String, String>> sections = sections();
    sections.put(ADMINS, hashes());
    String separator = "{";
    for (Map.Entry<String, Map<String, String>> section : sections.entrySet()) {
      json.ascii(separator).string(section.getKey()).octet(':');
      append(json, section.getValue());
      separator = ",";
    }
    return json.octet('}');
  }

  private Map<String, Map<String, String>> sections() {
    Map<String, Map<String, String>> sections = new TreeMap<>();
    settings
        .values()
        .forEach(
            (name, value) ->
                sections
                    .computeIfAbsent(name.section(), section -> new TreeMap<>())
                    .put(name.name(), value));
    return sections;
  }

  private static JsonBuffer append(JsonBuffer json, Map<String, String> values) {
    String separator = "{";
    for (Map.Entry<String, String> value : values.entrySet()) {
      json.ascii(separator).string(value.getKey()).octet(':').string(value.getValue());
      separator = ",";
    }
    return json.ascii(values.isEmpty() ? "{}" : "}");
  }

  /** A server reads its configuration when it starts, so there is nothing to reload. */
  private Future<Reply> ofSection(NodeRequest request, String name) {
    boolean isReload = name.equals("_reload");
    request.allow(isReload ? "POST" : "GET");
    return Future.succeededFuture(
        isReload
            ? Reply.ok(200)
            : Reply.json(
                200, append(new JsonBuffer(512), sections().getOrDefault(name, Map.of()))));
  }

  private Future<Reply> ofValue(NodeRequest request, SettingName name) {
    return switch (request.method()) {
      case GET, HEAD -> Future.succeededFuture(reply(settings.value(name)));
      case PUT -> request.change(() -> reply(settings.put(name, text(request.body()))));
      case DELETE -> request.change(() -> reply(settings.remove(name)));
      default -> throw Requests.notAllowed("GET,PUT,DELETE");
    };
  }

  private Future<Reply> ofAdmins(NodeRequest request) {
    request.allow("GET");
    return request.read(() -> Reply.json(200, append(new JsonBuffer(256), hashes())));
  }

  private Future<Reply> ofAdmin(NodeRequest request, String name) {
    return switch (request.method()) {
      case GET, HEAD -> request.read(() -> reply(known(Optional.ofNullable(hashes().get(name)))));
      case PUT -> request.change(() -> reply(admins.put(name, text(request.body())).orElse("")));
      case DELETE ->
          request.change(
              () -> {
                settings.checkRemovalOfAdmin(name);
                return reply(known(admins.remove(name)));
              });
      default -> throw Requests.notAllowed("GET,PUT,DELETE");
    };
  }

  /** Returns the admins with their passwords' hashes; waits for the store. */
  private Map<String, String> hashes() {
    Map<String, String> hashes = new TreeMap<>();
    admins.all().forEach(admin -> hashes.put(admin.name(), admin.hash()));
    return hashes;
  }

  private static String known(Optional<String> value) {
    return value.orElseThrow(() -> LectusException.notFound("unknown_config_value"));
  }

  /**
   * Returns a value of CouchDB's configuration, which is always a string.
   *
   * @throws LectusException {@code bad_request}: no JSON string
   */
  private static String text(byte[] body) {
    if (JsonValue.parse(body) instanceof JsonValue.JsonString text) {
      return text.value().strip();
    }
    throw LectusException.badRequest("a JSON string expected");
  }

  private static Reply reply(String value) {
    return Reply.json(200, new JsonBuffer(128).string(value));
  }
}
