package lectus.store.testing;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lectus.store.Awaiting;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Run by {@link EventLoopWaitsTest} alone: of its own assertions none fails. */
@ExtendWith(VertxExtension.class)
final class PlantedWaits {
  private static final byte[] KEY = {1};

  private static final ScratchFolder FOLDER = ScratchFolder.create();

  private static Store store;

  @BeforeAll
  static void open() {
    store = EmbeddedStores.open(FOLDER.path());
  }

  @AfterAll
  static void close() {
    store.close();
    FOLDER.delete();
  }

  private static Future<Void> onEventLoop(Vertx vertx, Runnable work) {
    return Future.future(
        done ->
            vertx.runOnContext(
                none -> {
                  work.run();
                  done.complete();
                }));
  }

  @Test
  void an_event_loop_awaits_a_future(Vertx vertx) throws TimeoutException {
    CompletableFuture<Void> late = new CompletableFuture<>();
    Future<Void> waiting = onEventLoop(vertx, () -> Awaiting.await(late));
    Await.until("it is waited for", () -> late.getNumberOfDependents() > 0);
    late.complete(null);
    waiting.await(20, TimeUnit.SECONDS);
  }

  @Test
  void an_event_loop_reads_the_store(Vertx vertx) throws TimeoutException {
    TransactionRunner transactions = runner();
    onEventLoop(vertx, () -> transactions.read(tx -> Awaiting.await(tx.get(KEY))))
        .await(20, TimeUnit.SECONDS);
  }

  @Test
  void an_event_loop_reads_from_memory(Vertx vertx) throws TimeoutException {
    TransactionRunner transactions = runner();
    onEventLoop(
            vertx,
            () ->
                transactions.readFromMemory(tx -> Optional.ofNullable(Awaiting.await(tx.get(KEY)))))
        .await(20, TimeUnit.SECONDS);
  }

  @Test
  void another_thread_reads_the_store() {
    runner().read(tx -> Awaiting.await(tx.get(KEY)));
  }

  private static TransactionRunner runner() {
    return new TransactionRunner(store, TransactionLimits.DEFAULT);
  }
}
