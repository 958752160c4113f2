package lectus.http.document;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import lectus.account.Accounts;
import lectus.account.ReplicatorDocuments;
import lectus.account.UserDocuments;
import lectus.database.DatabaseName;
import lectus.document.DocumentId;
import lectus.document.edit.AttachmentEdits.InlineAttachments;
import lectus.document.edit.Edit;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes.Completion;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.metrics.StageNotes;

/**
 * Makes edits ready to be queued: gives them their author, stores the attachments that they bring,
 * replaces passwords by their hashes, and gives replications their owner. A hash takes a good part
 * of a second, so it is computed before anything is queued.
 */
record EditPreparation(Accounts accounts, InlineAttachments attachments, DesignCheck designs) {
  /** Whoever is no admin has one document, or registers. */
  static final int MAX_PASSWORDS = 50;

  /** Their hashes take a good part of an hour. */
  static final int MAX_PASSWORDS_OF_ADMINS = 5_000;

  /**
   * @return fails with {@code forbidden} (403) if a password cannot be used, with Unavailable (503)
   *     if too many wait to be hashed
   */
  Future<Edit> prepare(Exchange exchange, DatabaseName database, Edit edit) {
    edit.attachments().requireNothingFollows();
    Edit signed = edit.by(exchange.user());
    return DocumentId.isDesign(edit.id())
        ? designs
            .checked(exchange, database, signed)
            .compose(checked -> stored(exchange, database, checked))
        : stored(exchange, database, signed);
  }

  private Future<Edit> stored(Exchange exchange, DatabaseName database, Edit signed) {
    return signed.attachments().hasInline()
        ? exchange
            .work(() -> attachments.stored(database, signed))
            .compose(stored -> hashedIfNeeded(exchange, database, stored))
        : hashedIfNeeded(exchange, database, signed);
  }

  private Future<Edit> hashedIfNeeded(Exchange exchange, DatabaseName database, Edit prepared) {
    if (!database.mayHaveSystemDocuments()) {
      return Future.succeededFuture(prepared);
    }
    if (ReplicatorDocuments.describes(database, prepared)) {
      return exchange.work(() -> owned(exchange, prepared));
    }
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
    return edits.stream().anyMatch(edit -> edit.attachments().hasInline())
        ? exchange
            .work(() -> prepared.stream().map(it -> attachments.stored(database, it)).toList())
            .compose(stored -> allHashed(exchange, database, new ArrayList<>(stored)))
        : allHashed(exchange, database, prepared);
  }

  private Future<List<Edit>> allHashed(
      Exchange exchange, DatabaseName database, List<Edit> prepared) {
    if (prepared.stream().anyMatch(it -> ReplicatorDocuments.describes(database, it))) {
      return exchange.work(() -> allOwned(exchange, database, prepared));
    }
    if (!UserDocuments.areIn(database)) {
      return Future.succeededFuture(prepared);
    }
    return exchange
        .work(() -> withPassword(exchange, prepared))
        .compose(places -> new ManyPasswords(exchange, accounts, prepared, places).hash());
  }

  private List<Edit> allOwned(Exchange exchange, DatabaseName database, List<Edit> edits) {
    return edits.stream()
        .map(it -> ReplicatorDocuments.describes(database, it) ? owned(exchange, it) : it)
        .toList();
  }

  private Edit owned(Exchange exchange, Edit edit) {
    return accounts.userEdits().owned(edit, exchange.isDatabaseAdmin());
  }

  /** Returns what completes the write of edits. */
  Completion completing(DatabaseName database, Completion completion) {
    return database.equals(UserDocuments.USERS)
        ? new FollowedUsers(accounts, completion)
        : completion;
  }

  /** What the rules of users' documents refuse in any case takes nobody's time. */
  private boolean needsHashing(Exchange exchange, Edit edit) {
    boolean isPossible = exchange.isDatabaseAdmin() || UserDocuments.mayWrite(edit.by(), edit.id());
    return isPossible && accounts.userEdits().needsHashing(edit);
  }

  private List<Integer> withPassword(Exchange exchange, List<Edit> edits) {
    List<Integer> places = new ArrayList<>();
    for (int place = 0; place < edits.size(); place++) {
      if (needsHashing(exchange, edits.get(place))) {
        places.add(place);
      }
    }
    int most = exchange.isDatabaseAdmin() ? MAX_PASSWORDS_OF_ADMINS : MAX_PASSWORDS;
    if (places.size() > most) {
      throw LectusException.tooLarge(
          "too_large",
          "The request brings " + places.size() + " passwords, the limit is " + most + ".");
    }
    return places;
  }

  private Future<Edit> hashed(Exchange exchange, Edit edit) {
    return Future.fromCompletionStage(accounts.userEdits().hash(edit), exchange.context());
  }

  /**
   * Completes a write of users' documents when what depends on them has followed, so that a client
   * that has made a user finds the user and the database.
   */
  private record FollowedUsers(Accounts accounts, Completion completion) implements Completion {
    /** Nobody waits for the databases of more users. */
    private static final int MAX_AWAITED = 100;

    @Override
    public void written(List<EditOutcome> outcomes) {
      List<String> users = new ArrayList<>();
      for (EditOutcome outcome : outcomes) {
        if (outcome instanceof EditOutcome.Written || outcome instanceof EditOutcome.Purged) {
          UserDocuments.nameIn(outcome.id()).ifPresent(users::add);
        }
      }
      if (users.size() > MAX_AWAITED) {
        accounts.userEdits().follow(users);
        completion.written(outcomes);
      } else {
        accounts
            .userEdits()
            .follow(users)
            .whenComplete((nothing, failure) -> completion.written(outcomes));
      }
    }

    @Override
    public void failed(Throwable failure) {
      completion.failed(failure);
    }

    @Override
    public boolean isAwaited() {
      return completion.isAwaited();
    }

    @Override
    public boolean hasLeft() {
      return completion.hasLeft();
    }

    @Override
    public StageNotes stages() {
      return completion.stages();
    }
  }

  /**
   * Replaces the passwords of one request's edits by their hashes, a few at a time, so that others
   * get their turn in between. Ends when the client leaves. Only used on the exchange's event loop.
   */
  private static final class ManyPasswords {
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
        done.tryFail(LectusException.unavailable("The client has left."));
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
}
