package lectus.http.database;

import java.nio.charset.StandardCharsets;
import lectus.account.Accounts;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.Sequence;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.feed.DatabaseNotices;
import lectus.feed.TouchedShards;
import lectus.http.access.DatabaseGuard;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;
import lectus.store.CommitResult;

/** {@code /{db}/_security}: who may use the database. */
final class SecurityResource implements Resource {
  private static final byte[] EVERYBODYS = "{}".getBytes(StandardCharsets.UTF_8);

  private final Catalogue catalogue;
  private final DatabaseGuard guard;
  private final CheckedNames names;
  private final DatabaseNotices events;
  private final Accounts accounts;

  SecurityResource(
      Catalogue catalogue,
      DatabaseGuard guard,
      CheckedNames names,
      DatabaseNotices events,
      Accounts accounts) {
    this.catalogue = catalogue;
    this.guard = guard;
    this.names = names;
    this.events = events;
    this.accounts = accounts;
  }

  @Override
  public void serve(Exchange exchange) {
    DatabaseName database = names.of(exchange);
    switch (exchange.method()) {
      case GET, HEAD ->
          exchange.answer(() -> Reply.json(200, new JsonBuffer(256).raw(get(database))));
      case PUT -> exchange.answerBodyByChange(body -> put(database, body));
      default -> throw Requests.notAllowed("PUT,GET");
    }
  }

  private byte[] get(DatabaseName database) {
    boolean isUnset = catalogue.open(database).security().isEmpty();
    return isUnset && guard.leavesUnsetToEverybody()
        ? EVERYBODYS.clone()
        : catalogue.security(database);
  }

  private Reply put(DatabaseName database, byte[] body) {
    if (body.length > Catalogue.MOST_SECURITY_BYTES) {
      throw new LectusException(
          new LectusError.TooLarge(
              "too_large",
              "The security object takes "
                  + body.length
                  + " bytes, the limit is "
                  + Catalogue.MOST_SECURITY_BYTES
                  + "."));
    }
    accounts.userEdits().checkSecurityMayChange(database);
    CommitResult<DatabaseHandle> secured = catalogue.secure(database, body);
    tell(secured.value(), secured);
    return Reply.ok(200);
  }

  /** Wakes feeds, so that one that may no longer read ends. */
  private void tell(DatabaseHandle db, CommitResult<?> secured) {
    Sequence sequence = Sequence.of(db.incarnation(), secured.versionstamp(), 0);
    events.publishUpdated(db.instance(), db.name(), sequence, TouchedShards.ANY);
  }
}
