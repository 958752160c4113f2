package lectus.account;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import lectus.database.Catalogue;
import lectus.database.Catalogue.DatabaseInstance;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.UserContext;
import lectus.document.read.AllDocsSubspace;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.metrics.DaemonThreads;
import lectus.metrics.Tasks;
import lectus.metrics.Tasks.RunningTask;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes users' databases, if that is wanted, one after the other on a thread of its own. */
final class UserDatabaseMaking implements AutoCloseable {
  private static final int IDLE_SECONDS = 10;

  /** Before what a database did not take is tried again: it may be on its way elsewhere. */
  private static final Duration PAUSE = Duration.ofSeconds(10);

  private final Supplier<AccountSettings> settings;
  private final Catalogue catalogue;
  private final TransactionRunner runner;
  private final Tasks tasks;
  private final Duration pause;
  private final ThreadPoolExecutor thread =
      DaemonThreads.pool(1, IDLE_SECONDS, DaemonThreads.named("lectus-user-databases"));

  UserDatabaseMaking(
      Supplier<AccountSettings> settings,
      Catalogue catalogue,
      TransactionRunner runner,
      Tasks tasks) {
    this(settings, catalogue, runner, tasks, PAUSE);
  }

  UserDatabaseMaking(
      Supplier<AccountSettings> settings,
      Catalogue catalogue,
      TransactionRunner runner,
      Tasks tasks,
      Duration pause) {
    this.pause = pause;
    this.settings = settings;
    this.catalogue = catalogue;
    this.runner = runner;
    this.tasks = tasks;
  }

  private Optional<UserDatabases> databases() {
    AccountSettings now = settings.get();
    return now.perUserDatabases()
        ? Optional.of(new UserDatabases(catalogue, runner, now.deletesUserDatabases()))
        : Optional.empty();
  }

  void beginAll() {
    databases().ifPresent(it -> begin(() -> followAll(it)));
  }

  private void followAll(UserDatabases all) {
    try (RunningTask task = tasks.begin("user_databases")) {
      followLater(all.followAll(task));
    }
  }

  CompletableFuture<Void> begin(Collection<String> users) {
    return databases()
        .map(it -> begin(() -> followLater(it.follow(users))))
        .orElseGet(() -> CompletableFuture.completedFuture(null));
  }

  private void followLater(Collection<String> users) {
    if (!users.isEmpty()) {
      CompletableFuture.delayedExecutor(pause.toMillis(), TimeUnit.MILLISECONDS, thread)
          .execute(() -> begin(users));
    }
  }

  private CompletableFuture<Void> begin(Runnable work) {
    try {
      return CompletableFuture.runAsync(work, thread);
    } catch (RejectedExecutionException closed) {
      // The next start looks at all users.
      return CompletableFuture.completedFuture(null);
    }
  }

  @Override
  public void close() {
    thread.shutdown();
  }

  /**
   * A database for each user, as CouchDB's {@code couch_peruser} makes them: {@code userdb-} and
   * the name in hex digits. Whether there is one, and whether its user may use it, follows from the
   * user's document, in one transaction with it; so it does not matter who looks, how often and
   * when.
   *
   * @param deletes whether a database goes with its user, and not only the right to it
   */
  record UserDatabases(Catalogue catalogue, TransactionRunner transactions, boolean deletes) {
    private static final Logger LOG = LoggerFactory.getLogger(UserDatabases.class);

    private static final String NAME_HEAD = "userdb-";
    private static final int ROWS_AT_ONCE = 1_000;
    private static final JsonObject NONE = new JsonObject(Map.of());

    /** Returns the name of a user's database; empty if the user's name is too long for one. */
    static Optional<DatabaseName> nameOf(String user) {
      String name = NAME_HEAD + HexFormat.of().formatHex(user.getBytes(StandardCharsets.UTF_8));
      return DatabaseName.isLegal(name) ? Optional.of(DatabaseName.of(name)) : Optional.empty();
    }

    private static Optional<String> userOf(DatabaseName name) {
      try {
        byte[] user = HexFormat.of().parseHex(name.text().substring(NAME_HEAD.length()));
        return Optional.of(new String(user, StandardCharsets.UTF_8));
      } catch (IllegalArgumentException ofNobody) {
        return Optional.empty();
      }
    }

    /**
     * Brings the databases of some users up to their documents. Failures are logged.
     *
     * @return those whose databases take no writes just now
     */
    List<String> follow(Collection<String> users) {
      List<String> later = new ArrayList<>();
      for (String user : users) {
        try {
          nameOf(user).ifPresent(name -> follow(user, name));
        } catch (LectusException refused) {
          LOG.info("The database of the user {}: {}", user, refused.error().reason());
          if (refused.error() instanceof LectusError.Unavailable) {
            later.add(user);
          }
        } catch (RuntimeException failure) {
          LOG.warn("The database of the user {} does not follow the document", user, failure);
        }
      }
      return later;
    }

    private void follow(String user, DatabaseName name) {
      boolean goes = transactions.run(tx -> settle(tx, user, name));
      if (goes) {
        deleteIfThere(name);
      }
    }

    /** Returns whether the database is to be deleted. */
    private boolean settle(Transaction tx, String user, DatabaseName name) {
      Optional<EditBranch> document = document(tx, user);
      if (document.isPresent() && !document.get().deleted()) {
        catalogue.establish(tx, name, json -> security(json, user, true));
        return false;
      }
      // Only a deletion takes the data along: documents are also missing where _users is made anew.
      boolean goes = deletes && document.isPresent();
      if (!goes && Awaiting.await(catalogue.life(tx, name)).isPresent()) {
        catalogue.establish(tx, name, json -> security(json, user, false));
      }
      return goes;
    }

    private Optional<EditBranch> document(Transaction tx, String user) {
      Optional<DatabaseHandle> users =
          catalogue.currentAll(tx, List.of(UserDocuments.USERS)).get(0);
      return users.flatMap(
          db -> Awaiting.await(new RevisionsSubspace(db).winner(tx, UserDocuments.idOf(user))));
    }

    private void deleteIfThere(DatabaseName name) {
      try {
        catalogue.delete(name);
      } catch (LectusException gone) {
        if (!(gone.error() instanceof LectusError.NotFound)) {
          throw gone;
        }
      }
    }

    /** Looks at all users and all their databases: a server may have ended before it did so. */
    List<String> followAll(RunningTask task) {
      Set<String> users = documents();
      users.addAll(databases());
      task.outOf(users.size());
      List<String> later = new ArrayList<>();
      for (String user : users) {
        later.addAll(follow(List.of(user)));
        task.advance(1);
      }
      return later;
    }

    private Set<String> documents() {
      Set<String> users = new LinkedHashSet<>();
      Optional<String> last = Optional.of("");
      while (last.isPresent()) {
        String after = last.get();
        List<String> ids = transactions.read(tx -> idsAfter(tx, after));
        ids.forEach(id -> UserDocuments.nameIn(id).ifPresent(users::add));
        last = ids.size() < ROWS_AT_ONCE ? Optional.empty() : Optional.of(ids.get(ids.size() - 1));
      }
      return users;
    }

    /** A page may end in the middle, since it is read at another time than the next. */
    private List<String> idsAfter(ReadTransaction tx, String after) {
      Optional<DatabaseHandle> users =
          catalogue.currentAll(tx, List.of(UserDocuments.USERS)).get(0);
      if (users.isEmpty()) {
        return List.of();
      }
      AllDocsSubspace rows = new AllDocsSubspace(users.get());
      byte[] begin = ByteArrayUtil.join(rows.key(after), new byte[] {0});
      return Awaiting.await(tx.getRange(begin, rows.end(), ROWS_AT_ONCE).asList()).stream()
          .map(row -> rows.decode(row).id())
          .toList();
    }

    private Set<String> databases() {
      Set<String> users = new LinkedHashSet<>();
      Optional<DatabaseName> last = Optional.empty();
      do {
        Optional<DatabaseName> after = last;
        List<DatabaseInstance> lives =
            transactions.read(tx -> catalogue.lives(tx, NAME_HEAD, after, ROWS_AT_ONCE));
        lives.forEach(life -> userOf(life.name()).ifPresent(users::add));
        last =
            lives.size() < ROWS_AT_ONCE
                ? Optional.empty()
                : Optional.of(lives.get(lives.size() - 1).name());
      } while (last.isPresent());
      return users;
    }

    /**
     * Returns the security object of a user's own database, as JSON, with the user among the admins
     * and the members, or among neither. Other names, and other members of the object, remain.
     */
    private static byte[] security(byte[] security, String user, boolean isAdmitted) {
      if (!(JsonValue.parse(security) instanceof JsonObject object)) {
        return security;
      }
      JsonString name = new JsonString(user);
      Map<String, JsonValue> members = new LinkedHashMap<>(object.members());
      for (String group : List.of("admins", "members")) {
        JsonObject former =
            object.get(group).orElse(NONE) instanceof JsonObject stored ? stored : NONE;
        List<JsonValue> names = new ArrayList<>(elements(former, "names"));
        boolean isChanged =
            isAdmitted ? !names.contains(name) && names.add(name) : names.removeIf(name::equals);
        if (isChanged) {
          members.put(group, named(former, names));
        }
      }
      return members.equals(object.members()) ? security : new JsonObject(members).toBytes();
    }

    private static List<JsonValue> elements(JsonObject group, String member) {
      return group.members().get(member) instanceof JsonArray array ? array.elements() : List.of();
    }

    /**
     * Members that name nobody would be everybody, so a group of nobody is left to server admins.
     */
    private static JsonObject named(JsonObject group, List<JsonValue> names) {
      Map<String, JsonValue> changed = new LinkedHashMap<>(group.members());
      changed.put("names", new JsonArray(names));
      if (names.isEmpty() && elements(group, "roles").isEmpty()) {
        JsonValue admins = new JsonString(UserContext.SERVER_ADMIN);
        changed.put("roles", new JsonArray(List.of(admins)));
      }
      return new JsonObject(changed);
    }
  }
}
