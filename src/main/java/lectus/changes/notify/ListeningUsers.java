package lectus.changes.notify;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import lectus.account.Accounts.NamedAccount;
import lectus.account.SessionCheck;
import lectus.changes.page.Registration;
import lectus.changes.page.SessionNotifications;
import lectus.database.UserContext;
import lectus.database.UserContext.Session;
import lectus.error.LectusError;

/** The users with open feeds on this server, by their names. Thread-safe. */
public final class ListeningUsers implements SessionNotifications {
  final Map<String, Set<Watch>> byName = new ConcurrentHashMap<>();

  /** Those who are admins because there is none. */
  private final Set<Watch> party = ConcurrentHashMap.newKeySet();

  /** Those whom no account let in. */
  private final Set<Watch> guests = ConcurrentHashMap.newKeySet();

  /** Those who came since the last look, and may have been let in by what was known before it. */
  private final Set<String> newcomers = ConcurrentHashMap.newKeySet();

  /** Compared by identity: many feeds may be one user's. */
  private static final class Watch {
    private final Session who;
    private final Consumer<LectusError> gone;

    Watch(Session who, Consumer<LectusError> gone) {
      this.who = who;
      this.gone = gone;
    }
  }

  @Override
  public Registration watch(Session who, Consumer<LectusError> gone) {
    Watch watch = new Watch(who, gone);
    if (who.user().equals(UserContext.ADMIN_PARTY)) {
      return in(party, watch);
    }
    Optional<String> name = who.salt().flatMap(salt -> who.user().name());
    if (name.isEmpty()) {
      return in(guests, watch);
    }
    add(name.get(), watch);
    return () -> remove(name.get(), watch);
  }

  private static Registration in(Set<Watch> all, Watch watch) {
    all.add(watch);
    return () -> all.remove(watch);
  }

  private void add(String name, Watch watch) {
    byName.compute(
        name,
        (same, known) -> {
          Set<Watch> all = known == null ? ConcurrentHashMap.newKeySet() : known;
          all.add(watch);
          return all;
        });
    newcomers.add(name);
  }

  private void remove(String name, Watch watch) {
    byName.computeIfPresent(
        name,
        (same, all) -> {
          all.remove(watch);
          return all.isEmpty() ? null : all;
        });
  }

  /** Whether nobody is here whose admission or right might end. */
  boolean isEmpty() {
    return byName.isEmpty() && party.isEmpty() && guests.isEmpty();
  }

  Set<String> takeNewcomers() {
    Set<String> taken = new HashSet<>(newcomers);
    newcomers.removeAll(taken);
    return taken;
  }

  Set<String> names() {
    return Set.copyOf(byName.keySet());
  }

  /** Tells those of a name who were let in by another account than this. */
  void found(String name, Optional<NamedAccount> account) {
    for (Watch watch : List.copyOf(byName.getOrDefault(name, Set.of()))) {
      if (!SessionCheck.isOf(watch.who, account)) {
        watch.gone.accept(SessionCheck.CHANGED);
      }
    }
  }

  /** Tells those who are not logged in that they have to be. */
  void foundLock() {
    for (Watch watch : guests) {
      if (watch.who.user().name().isEmpty()) {
        watch.gone.accept(SessionCheck.LOG_IN_NEEDED);
      }
    }
  }

  void foundAdmin() {
    List.copyOf(party).forEach(watch -> watch.gone.accept(SessionCheck.PARTY_IS_OVER));
  }
}
