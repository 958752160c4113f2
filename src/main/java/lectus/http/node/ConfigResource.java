package lectus.http.node;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/**
 * {@code /_node/{node}/_config}: what is in force, under CouchDB's names. A running server's
 * configuration does not change, so a value is accepted if it is in force already: set-up scripts
 * that find what they want go on. Admins are another matter.
 */
final class ConfigResource implements Resource {
  private static final String ADMINS = "admins";

  /** The names in a path to all sections, to one, and to a value. */
  private static final int TO_ALL = 3;

  private static final int TO_SECTION = 4;
  private static final int TO_VALUE = 5;

  private final List<ConfigEntry> entries;
  private final AdminsResource admins;

  ConfigResource(List<ConfigEntry> entries, AdminsResource admins) {
    this.entries = entries;
    this.admins = admins;
  }

  @Override
  public void serve(Exchange exchange) {
    List<String> path = exchange.segments();
    if (path.size() > TO_ALL && path.get(TO_ALL).equals(ADMINS)) {
      admins.serve(exchange);
      return;
    }
    switch (path.size()) {
      case TO_ALL -> serveAll(exchange);
      case TO_SECTION -> serveSection(exchange, path.get(TO_ALL));
      case TO_VALUE -> serveValue(exchange, path.get(TO_ALL), path.get(TO_SECTION));
      default -> throw LectusException.notFound("missing");
    }
  }

  private void serveAll(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.answer(() -> Reply.json(200, all()));
      default -> throw Requests.notAllowed("GET");
    }
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

  private void serveSection(Exchange exchange, String name) {
    if (name.equals("_reload")) {
      serveReload(exchange);
      return;
    }
    switch (exchange.method()) {
      case GET, HEAD -> exchange.reply(Reply.json(200, append(new JsonBuffer(512), section(name))));
      default -> throw Requests.notAllowed("GET");
    }
  }

  /** Nothing is kept but what the configuration says. */
  private static void serveReload(Exchange exchange) {
    switch (exchange.method()) {
      case POST -> exchange.reply(Reply.ok(200));
      default -> throw Requests.notAllowed("POST");
    }
  }

  private void serveValue(Exchange exchange, String section, String name) {
    Optional<ConfigEntry> entry =
        entries.stream()
            .filter(it -> it.section().equals(section) && it.name().equals(name))
            .findFirst();
    switch (exchange.method()) {
      case GET, HEAD -> exchange.reply(value(known(entry)));
      case PUT -> exchange.answerBody(body -> put(entry, ConfigText.of(body)));
      case DELETE -> throw LectusException.badRequest(known(entry).advice());
      default -> throw Requests.notAllowed("GET,PUT,DELETE");
    }
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
