package lectus.store.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
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
            results.put(test.getDisplayName().replaceAll("\\(.*", ""), result);
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
}
