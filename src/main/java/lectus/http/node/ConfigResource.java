package lectus.http.node;

import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import lectus.error.LectusException;
import lectus.http.exchange.Requests;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/**
 * {@code /_node/{node}/_config}: what is in force, under CouchDB's names. A running server's
 * configuration does not change, so a value is accepted if it is in force already: set-up scripts
 * that find what they want go on. Admins are another matter.
 */
final class ConfigResource implements NodePart {
  static final String ADMINS = "admins";

  /** The names in a path to all sections, to one, and to a value. */
  private static final int TO_ALL = 1;

  private static final int TO_SECTION = 2;
  private static final int TO_VALUE = 3;

  private final List<ConfigEntry> entries;
  private final AdminsResource admins;

  ConfigResource(List<ConfigEntry> entries, AdminsResource admins) {
    this.entries = entries;
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
      case TO_VALUE -> ofValue(request, path.get(TO_ALL), path.get(TO_SECTION));
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
    Map<String, Map<String, String>> sections = new TreeMap<>();
    sections.put(ADMINS, admins.hashes());
    entries.forEach(it -> sections.put(it.section(), section(it.section())));
    String separator = "{";
    for (Map.Entry<String, Map<String, String>> section : sections.entrySet()) {
      json.ascii(separator).string(section.getKey()).octet(':');
      append(json, section.getValue());
      separator = ",";
    }
    return json.octet('}');
  }

  private Map<String, String> section(String name) {
    Map<String, String> values = new TreeMap<>();
    entries.stream()
        .filter(it -> it.section().equals(name))
        .forEach(it -> values.put(it.name(), it.value()));
    return values;
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
      case GET, HEAD -> Reply.json(200, append(new JsonBuffer(512), section(name)));
      default -> throw Requests.notAllowed("GET");
    };
  }

  /** Nothing is kept but what the configuration says. */
  private static Reply ofReload(NodeRequest request) {
    return switch (request.method()) {
      case POST -> Reply.ok(200);
      default -> throw Requests.notAllowed("POST");
    };
  }

  private Future<Reply> ofValue(NodeRequest request, String section, String name) {
    Optional<ConfigEntry> entry =
        entries.stream()
            .filter(it -> it.section().equals(section) && it.name().equals(name))
            .findFirst();
    return switch (request.method()) {
      case GET, HEAD -> Future.succeededFuture(value(known(entry)));
      case PUT -> request.work().read(() -> put(entry, ConfigText.of(request.body())));
      case DELETE -> throw LectusException.badRequest(known(entry).advice());
      default -> throw Requests.notAllowed("GET,PUT,DELETE");
    };
  }

  private static ConfigEntry known(Optional<ConfigEntry> entry) {
    return entry.orElseThrow(() -> LectusException.notFound("unknown_config_value"));
  }

  private static Reply value(ConfigEntry entry) {
    return ConfigText.reply(entry.value());
  }

  private static Reply put(Optional<ConfigEntry> entry, String wanted) {
    ConfigEntry known =
        entry.orElseThrow(
            () -> LectusException.badRequest("This is no setting of Lectus; nothing was set."));
    if (!known.isInForce(wanted)) {
      throw LectusException.badRequest(known.advice());
    }
    return value(known);
  }
}
