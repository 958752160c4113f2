package lectus.http.document;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.Iterator;
import java.util.List;
import lectus.account.Accounts;
import lectus.document.edit.Edit;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;

/**
 * Replaces the passwords of one request's edits by their hashes, a few at a time, so that others
 * get their turn in between. Ends when the client leaves. Only used on the exchange's event loop.
 */
final class ManyPasswords {
  private final Exchange exchange;
  private final Accounts accounts;
  private final List<Edit> edits;
  private final Iterator<Integer> places;
  private final Promise<List<Edit>> done = Promise.promise();
  private int underway;

  /**
   * @param places of the edits that bring a password
   */
  ManyPasswords(Exchange exchange, Accounts accounts, List<Edit> edits, List<Integer> places) {
    this.exchange = exchange;
    this.accounts = accounts;
    this.edits = edits;
    this.places = places.iterator();
  }

  /** Completes with the same edits; fails as soon as one cannot be hashed. */
  Future<List<Edit>> hash() {
    for (int i = 0; i < accounts.userEdits().importsAtOnce(); i++) {
      goOn();
    }
    return done.future();
  }

  private void goOn() {
    if (exchange.isAbandoned()) {
      done.tryFail(new LectusException(new LectusError.Unavailable("The client has left.")));
    } else if (done.future().failed()) {
      return;
    } else if (places.hasNext()) {
      hash(places.next());
    } else if (underway == 0) {
      done.tryComplete(edits);
    }
  }

  private void hash(int place) {
    underway++;
    Future.fromCompletionStage(
            accounts.userEdits().hashOfImport(edits.get(place)), exchange.context())
        .onSuccess(
            edit -> {
              underway--;
              edits.set(place, edit);
              goOn();
            })
        .onFailure(done::tryFail);
  }
}
