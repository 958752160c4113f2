package lectus.http.admin;

import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import lectus.account.Accounts;
import lectus.account.AdminsSubspace.Admin;
import lectus.error.LectusException;
import lectus.http.Reply;
import lectus.http.admin.ConfigResource.ConfigText;
import lectus.http.admin.NodeRequest.NodePart;
import lectus.http.exchange.Requests;
import lectus.json.JsonBuffer;

/**
 * {@code /_node/{node}/_config/admins} and {@code …/admins/{name}}: the admins, where CouchDB's
 * clients and containers make them. Every server of the store has the same. As in CouchDB, a
 * password is shown as its hash.
 */
final class AdminsResource implements NodePart {
  /** The names in the path to one admin. */
  private static final int SEGMENTS = 3;

  private final Accounts accounts;
  private final LockOut lockOut;

  AdminsResource(Accounts accounts, LockOut lockOut) {
    this.accounts = accounts;
    this.lockOut = lockOut;
  }

  @Override
  public Future<Reply> answer(NodeRequest request) {
    List<String> path = request.path();
    if (path.size() > SEGMENTS) {
      throw LectusException.notFound("missing");
    }
    if (path.size() == SEGMENTS) {
      return ofAdmin(request, path.get(SEGMENTS - 1));
    }
    return switch (request.method()) {
      case GET, HEAD -> request.work().read(this::all);
      default -> throw Requests.notAllowed("GET");
    };
  }

  private Future<Reply> ofAdmin(NodeRequest request, String name) {
    NodeRequest.Work work = request.work();
    return switch (request.method()) {
      case GET, HEAD -> work.read(() -> ConfigText.reply(known(find(name))));
      case PUT -> work.change(() -> put(name, ConfigText.of(request.body())));
      case DELETE -> work.change(() -> remove(name));
      default -> throw Requests.notAllowed("GET,PUT,DELETE");
    };
  }

  private Reply all() {
    return Reply.json(200, ConfigResource.append(new JsonBuffer(256), hashes()));
  }

  /** Returns the admins with their passwords' hashes; waits for the store. */
  Map<String, String> hashes() {
    Map<String, String> hashes = new TreeMap<>();
    accounts.admins().all().forEach(admin -> hashes.put(admin.name(), admin.hash()));
    return hashes;
  }

  private Optional<String> find(String name) {
    return accounts.admins().all().stream()
        .filter(admin -> admin.name().equals(name))
        .map(Admin::hash)
        .findFirst();
  }

  private static String known(Optional<String> value) {
    return value.orElseThrow(() -> LectusException.notFound("unknown_config_value"));
  }

  private Reply remove(String name) {
    lockOut.checkRemoval(name);
    return ConfigText.reply(known(accounts.admins().remove(name)));
  }

  private Reply put(String name, String password) {
    return ConfigText.reply(accounts.admins().put(name, password).orElse(""));
  }
}
