package lectus.changes.notify;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import lectus.account.Accounts.NamedAccount;
import lectus.changes.page.AccountsTail;

/**
 * Finds out whose accounts changed, while anybody has a feed open on this server, and looks those
 * up. The same read tells whether the security of any database may have changed, so that feeds
 * learn of it within a second even if no event comes.
 */
public final class SessionPoll implements Poll {
  private static final Duration PAUSE = Duration.ofMillis(400);

  private final Supplier<AccountsTail.Changes> changes;
  private final Function<String, Optional<NamedAccount>> accounts;
  private final ListeningUsers users;
  private final BooleanSupplier everybodyLogsIn;
  private final Runnable databasesMoved;
  private final Set<String> due = new HashSet<>();
  private long lastNanos = System.nanoTime() - PAUSE.toNanos();

  /**
   * @param accounts reads the account of a name as it is now
   * @param everybodyLogsIn whether nobody is served without a log-in
   * @param databasesMoved called when databases should be polled
   */
  public SessionPoll(
      Supplier<AccountsTail.Changes> changes,
      Function<String, Optional<NamedAccount>> accounts,
      ListeningUsers users,
      BooleanSupplier everybodyLogsIn,
      Runnable databasesMoved) {
    this.changes = changes;
    this.accounts = accounts;
    this.users = users;
    this.everybodyLogsIn = everybodyLogsIn;
    this.databasesMoved = databasesMoved;
  }

  @Override
  public void run() {
    if (untilNext().isZero()) {
      lastNanos = System.nanoTime();
      if (!users.isEmpty()) {
        look();
      }
    }
  }

  private void look() {
    if (everybodyLogsIn.getAsBoolean()) {
      users.foundLock();
    }
    due.addAll(users.takeNewcomers());
    AccountsTail.Changes found = changes.get();
    if (found.anyDatabase()) {
      databasesMoved.run();
    }
    if (found.hasAdmin()) {
      users.foundAdmin();
    }
    due.addAll(found.names().orElseGet(users::names));
    lookAtAccounts();
  }

  /** Those that a failure leaves out are looked at by the next poll. */
  private void lookAtAccounts() {
    due.removeIf(name -> !users.byName.containsKey(name));
    for (String name : List.copyOf(due)) {
      users.found(name, accounts.apply(name));
      due.remove(name);
    }
  }

  @Override
  public Duration untilNext() {
    long nanos = PAUSE.toNanos() - (System.nanoTime() - lastNanos);
    return Duration.ofNanos(Math.max(0, nanos));
  }
}
