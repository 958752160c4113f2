package lectus.http.document;

import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import lectus.account.Accounts;
import lectus.account.UserDocuments;
import lectus.database.DatabaseName;
import lectus.document.edit.Edit;
import lectus.document.write.Writes.Completion;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;

/**
 * Makes edits ready to be queued: gives them their author, and replaces passwords by their hashes.
 * A hash takes a good part of a second, so it is computed before anything is queued.
 */
record EditPreparation(Accounts accounts) {
  /** More would keep others who log in waiting for a minute. */
  static final int MOST_PASSWORDS = 50;

  /**
   * @return fails with {@code forbidden} (403) if a password cannot be used, with Unavailable (503)
   *     if too many wait to be hashed
   */
  Future<Edit> prepare(Exchange exchange, DatabaseName database, Edit edit) {
    Edit prepared = edit.by(exchange.user());
    if (!UserDocuments.areIn(database)) {
      return Future.succeededFuture(prepared);
    }
    return exchange
        .work(() -> needsHashing(exchange, prepared))
        .compose(needed -> needed ? hashed(exchange, prepared) : Future.succeededFuture(prepared));
  }

  /**
   * Like {@link #prepare}, for the edits of one request.
   *
   * @return fails with {@code too_large} (413), too, if they bring too many passwords
   */
  Future<List<Edit>> prepareAll(Exchange exchange, DatabaseName database, List<Edit> edits) {
    List<Edit> prepared = new ArrayList<>(edits.size());
    edits.forEach(edit -> prepared.add(edit.by(exchange.user())));
    if (!UserDocuments.areIn(database)) {
      return Future.succeededFuture(prepared);
    }
    return exchange
        .work(() -> withPassword(exchange, prepared))
        .compose(places -> hashAll(exchange, prepared, places));
  }

  /** Returns what completes the write of edits. */
  Completion completing(DatabaseName database, Completion completion) {
    return accounts.makesUserDatabases() && database.equals(UserDocuments.USERS)
        ? new FollowedUsers(accounts, completion)
        : completion;
  }

  /** What the rules of users' documents refuse in any case takes nobody's time. */
  private boolean needsHashing(Exchange exchange, Edit edit) {
    boolean isPossible =
        exchange.caller().isDatabaseAdmin() || UserDocuments.mayWrite(edit.by(), edit.id());
    return isPossible && accounts.needsHashing(edit);
  }

  private List<Integer> withPassword(Exchange exchange, List<Edit> edits) {
    List<Integer> places = new ArrayList<>();
    for (int place = 0; place < edits.size(); place++) {
      if (needsHashing(exchange, edits.get(place))) {
        places.add(place);
      }
    }
    if (places.size() > MOST_PASSWORDS) {
      throw new LectusException(
          new LectusError.TooLarge(
              "too_large",
              "The request brings "
                  + places.size()
                  + " passwords, the limit is "
                  + MOST_PASSWORDS
                  + "."));
    }
    return places;
  }

  /** One after the other, so that others get their turn in between. */
  private Future<List<Edit>> hashAll(Exchange exchange, List<Edit> edits, List<Integer> places) {
    Future<List<Edit>> all = Future.succeededFuture(edits);
    for (int place : places) {
      all =
          all.compose(done -> hashed(exchange, edits.get(place)))
              .map(
                  edit -> {
                    edits.set(place, edit);
                    return edits;
                  });
    }
    return all;
  }

  private Future<Edit> hashed(Exchange exchange, Edit edit) {
    return Future.fromCompletionStage(accounts.hash(edit), exchange.context());
  }
}
