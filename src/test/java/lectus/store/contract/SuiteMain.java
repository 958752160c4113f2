package lectus.store.contract;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Arrays;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs test classes in a separate process. Exits with 0 if tests were found and all passed. */
final class SuiteMain {
  private SuiteMain() {}

  public static void main(String[] classNames) {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(
                Arrays.stream(classNames)
                    .map(name -> selectClass(name))
                    .toArray(DiscoverySelector[]::new))
            .build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(request, listener);
    TestExecutionSummary summary = listener.getSummary();
    summary.getFailures().forEach(f -> f.getException().printStackTrace(System.out));
    boolean passed = summary.getTotalFailureCount() == 0 && summary.getTestsSucceededCount() > 0;
    System.exit(passed ? 0 : 1);
  }
}
