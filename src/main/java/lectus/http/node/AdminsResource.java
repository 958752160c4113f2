package lectus.http.node;

import java.util.List;
import java.util.Optional;
import lectus.account.Accounts;
import lectus.account.AdminsSubspace.Admin;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/**
 * {@code /_node/{node}/_config/admins} and {@code …/admins/{name}}: the admins, where CouchDB's
 * clients and containers make them. Every server of the store has the same. As in CouchDB, a
 * password is shown as its hash.
 */
final class AdminsResource implements Resource {
  /** The segments of the path to one admin. */
  private static final int SEGMENTS = 5;

  private final Accounts accounts;

  AdminsResource(Accounts accounts) {
    this.accounts = accounts;
  }

  @Override
  public void serve(Exchange exchange) {
    List<String> path = exchange.segments();
    if (path.size() > SEGMENTS) {
      throw LectusException.notFound("missing");
    }
    if (path.size() == SEGMENTS) {
      serveAdmin(exchange, path.get(SEGMENTS - 1));
      return;
    }
    switch (exchange.method()) {
      case GET, HEAD -> exchange.answer(this::all);
      default -> throw Requests.notAllowed("GET");
    }
  }

  private void serveAdmin(Exchange exchange, String name) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.answer(() -> value(known(find(name))));
      case PUT -> exchange.answerBodyByChange(body -> put(name, password(body)));
      case DELETE -> exchange.answerChange(() -> value(known(accounts.removeAdmin(name))));
      default -> throw Requests.notAllowed("GET,PUT,DELETE");
    }
  }

  private Reply all() {
    JsonBuffer json = new JsonBuffer(256);
    String separator = "{";
    for (Admin admin : accounts.admins()) {
      json.ascii(separator).string(admin.name()).octet(':').string(admin.hash());
      separator = ",";
    }
    return Reply.json(200, json.ascii(separator.equals("{") ? "{}" : "}"));
  }

  private Optional<String> find(String name) {
    return accounts.admins().stream()
        .filter(admin -> admin.name().equals(name))
        .map(Admin::hash)
        .findFirst();
  }

  private static String known(Optional<String> value) {
    return value.orElseThrow(() -> LectusException.notFound("unknown_config_value"));
  }

  private Reply put(String name, String password) {
    return value(accounts.putAdmin(name, password).orElse(""));
  }

  private static Reply value(String text) {
    return Reply.json(200, new JsonBuffer(128).string(text));
  }

  private static String password(byte[] body) {
    if (JsonValue.parse(body) instanceof JsonValue.JsonString text) {
      return text.value().strip();
    }
    throw LectusException.badRequest("a JSON string expected");
  }
}
