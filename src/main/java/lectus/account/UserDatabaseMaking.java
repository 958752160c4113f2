package lectus.account;

import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import lectus.database.Catalogue;
import lectus.metrics.Tasks;
import lectus.metrics.Tasks.RunningTask;
import lectus.store.TransactionRunner;

/** Makes users' databases, if that is wanted, one after the other on a thread of its own. */
final class UserDatabaseMaking implements AutoCloseable {
  private static final int IDLE_SECONDS = 10;

  private final Supplier<AccountSettings> settings;
  private final Catalogue catalogue;
  private final TransactionRunner runner;
  private final Tasks tasks;
  private final ThreadPoolExecutor thread =
      new ThreadPoolExecutor(
          1,
          1,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          task -> {
            Thread made = new Thread(task, "lectus-user-databases");
            made.setDaemon(true);
            return made;
          });

  UserDatabaseMaking(
      Supplier<AccountSettings> settings,
      Catalogue catalogue,
      TransactionRunner runner,
      Tasks tasks) {
    this.settings = settings;
    this.catalogue = catalogue;
    this.runner = runner;
    this.tasks = tasks;
    thread.allowCoreThreadTimeOut(true);
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
      all.followAll(task);
    }
  }

  CompletableFuture<Void> begin(Collection<String> users) {
    return databases()
        .map(it -> begin(() -> it.follow(users)))
        .orElseGet(() -> CompletableFuture.completedFuture(null));
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
}
