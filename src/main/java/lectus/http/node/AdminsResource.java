package lectus.http.node;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import lectus.account.Accounts;
import lectus.account.AdminsSubspace.Admin;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

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
      case GET, HEAD -> exchange.answer(() -> ConfigText.reply(known(find(name))));
      case PUT -> exchange.answerBodyByChange(body -> put(name, ConfigText.of(body)));
      case DELETE ->
          exchange.answerChange(() -> ConfigText.reply(known(accounts.removeAdmin(name))));
      default -> throw Requests.notAllowed("GET,PUT,DELETE");
    }
  }

  private Reply all() {
    return Reply.json(200, ConfigResource.append(new JsonBuffer(256), hashes()));
  }

  /** Returns the admins with their passwords' hashes; waits for the store. */
  Map<String, String> hashes() {
    Map<String, String> hashes = new TreeMap<>();
    accounts.admins().forEach(admin -> hashes.put(admin.name(), admin.hash()));
    return hashes;
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
    return ConfigText.reply(accounts.putAdmin(name, password).orElse(""));
  }
}
