package lectus.http.admin;

import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import lectus.database.SettingsSubspace.SettingName;
import lectus.error.LectusException;
import lectus.http.Reply;
import lectus.http.admin.NodeRequest.NodePart;
import lectus.http.exchange.Requests;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/**
 * {@code /_node/{node}/_config}: what is in force, under CouchDB's names. What is set here is the
 * store's, and in force on all of its servers; {@link CouchSettings} knows what can be set.
 */
final class ConfigResource implements NodePart {
  static final String ADMINS = "admins";

  /** The names in a path to all sections, to one, and to a value. */
  private static final int TO_ALL = 1;

  private static final int TO_SECTION = 2;
  private static final int TO_VALUE = 3;

  private final CouchSettings settings;
  private final AdminsResource admins;

  ConfigResource(CouchSettings settings, AdminsResource admins) {
    this.settings = settings;
    this.admins = admins;
  }

  @Override
  public Future<Reply> answer(NodeRequest request) {
    List<String> path = request.path();
    if (path.size() > TO_ALL && path.get(TO_ALL).equals(ADMINS)) {
      return admins.answer(request);
    }
    return switch (path.size()) {
      case TO_ALL -> ofAll(request);
      case TO_SECTION -> Future.succeededFuture(ofSection(request, path.get(TO_ALL)));
      case TO_VALUE -> ofValue(request, new SettingName(path.get(TO_ALL), path.get(TO_SECTION)));
      default -> throw LectusException.notFound("missing");
    };
  }

  private Future<Reply> ofAll(NodeRequest request) {
    return switch (request.method()) {
      case GET, HEAD -> request.work().read(() -> Reply.json(200, all()));
      default -> throw Requests.notAllowed("GET");
    };
  }

  private JsonBuffer all() {
    JsonBuffer json = new JsonBuffer(2_048);
    Map<String, Map<String, String>> sections = sections();
    sections.put(ADMINS, admins.hashes());
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

  static JsonBuffer append(JsonBuffer json, Map<String, String> values) {
    String separator = "{";
    for (Map.Entry<String, String> value : values.entrySet()) {
      json.ascii(separator).string(value.getKey()).octet(':').string(value.getValue());
      separator = ",";
    }
    return json.ascii(values.isEmpty() ? "{}" : "}");
  }

  private Reply ofSection(NodeRequest request, String name) {
    if (name.equals("_reload")) {
      return ofReload(request);
    }
    return switch (request.method()) {
      case GET, HEAD ->
          Reply.json(200, append(new JsonBuffer(512), sections().getOrDefault(name, Map.of())));
      default -> throw Requests.notAllowed("GET");
    };
  }

  /** A server reads its configuration when it starts. */
  private static Reply ofReload(NodeRequest request) {
    return switch (request.method()) {
      case POST -> Reply.ok(200);
      default -> throw Requests.notAllowed("POST");
    };
  }

  private Future<Reply> ofValue(NodeRequest request, SettingName name) {
    NodeRequest.Work work = request.work();
    return switch (request.method()) {
      case GET, HEAD -> Future.succeededFuture(ConfigText.reply(settings.value(name)));
      case PUT ->
          work.change(() -> ConfigText.reply(settings.put(name, ConfigText.of(request.body()))));
      case DELETE -> work.change(() -> ConfigText.reply(settings.remove(name)));
      default -> throw Requests.notAllowed("GET,PUT,DELETE");
    };
  }

  /** A value of CouchDB's configuration, which is always a string. */
  static final class ConfigText {
    private ConfigText() {}

    /**
     * @throws LectusException {@code bad_request}: no JSON string
     */
    static String of(byte[] body) {
      if (JsonValue.parse(body) instanceof JsonValue.JsonString text) {
        return text.value().strip();
      }
      throw LectusException.badRequest("a JSON string expected");
    }

    static Reply reply(String value) {
      return Reply.json(200, new JsonBuffer(128).string(value));
    }
  }
}
