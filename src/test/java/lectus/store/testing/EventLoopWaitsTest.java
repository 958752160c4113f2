package lectus.store.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lectus.store.Awaiting;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores.ScratchFolder;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** JUnit finds the watch by itself, as in every run. */
final class EventLoopWaitsTest {
  private static Map<String, TestExecutionResult> results() {
    Map<String, TestExecutionResult> results = new ConcurrentHashMap<>();
    TestExecutionListener noting =
        new TestExecutionListener() {
          @Override
          public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            results.put(
                test.getDisplayName().replaceAll("\\(.*|.*\\W(?=PlantedWaits)", ""), result);
          }
        };
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(PlantedWaits.class))
                .build(),
            noting);
    return results;
  }

  @Test
  void a_test_fails_in_which_an_event_loop_may_wait() {
    Map<String, TestExecutionResult> results = results();

    assertThat(results.get("an_event_loop_awaits_a_future").getThrowable())
        .hasValueSatisfying(EventLoopWaitsTest::saysWhere);
    assertThat(results.get("an_event_loop_reads_the_store").getThrowable())
        .hasValueSatisfying(EventLoopWaitsTest::saysWhere);
    assertThat(results.get("an_event_loop_reads_from_memory").getThrowable()).isEmpty();
    assertThat(results.get("another_thread_reads_the_store").getThrowable()).isEmpty();
    assertThat(results.get("PlantedWaits").getThrowable()).isEmpty();
  }

  private static void saysWhere(Throwable failure) {
    assertThat(failure).hasMessageStartingWith("An event loop may have waited for the store");
    assertThat(failure.getCause()).hasStackTraceContaining(PlantedWaits.class.getName());
  }

  /** Run by {@link EventLoopWaitsTest} alone: of its own assertions none fails. */
  @ExtendWith(VertxExtension.class)
  static final class PlantedWaits {
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
                  transactions.readFromMemory(
                      tx -> Optional.ofNullable(Awaiting.await(tx.get(KEY)))))
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
}
