package lectus.store.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import lectus.store.testing.TestJava;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Section 13: the embedded store runs without loading anything that needs libfdb_c. */
class NoNativeLibraryTest {
  private static final List<Class<?>> SUITE =
      List.of(
          ErrorsContractTest.class,
          RangesContractTest.class,
          ConflictsContractTest.class,
          VersionsContractTest.class,
          LimitsContractTest.class,
          WatchesContractTest.class,
          SurfaceContractTest.class);

  private static final Pattern NATIVE =
      Pattern.compile(
          "com\\.apple\\.foundationdb\\.(FDB|FDB(Database|Transaction)|JNIUtil|Native\\w+|Future\\w+)"
              + " source:.*");

  @TempDir private Path folder;

  @BeforeEach
  void onlyEmbedded() {
    TestStores.onlyEmbedded();
  }

  @Test
  void the_contract_suite_loads_no_native_class() throws Exception {
    Path log = folder.resolve("classes.log");
    assertThat(run(log)).as("exit status of the suite").isZero();
    List<String> loaded = Files.readAllLines(log);
    assertThat(loaded)
        .anyMatch(line -> line.contains("com.apple.foundationdb.FDBException source:"));
    assertThat(loaded).noneMatch(line -> NATIVE.matcher(line).find());
  }

  private int run(Path log) throws Exception {
    List<String> command = TestJava.command(512, "-Xlog:class+load=info:file=" + log);
    command.add(SuiteMain.class.getName());
    SUITE.forEach(suite -> command.add(suite.getName()));
    File output = folder.resolve("output.txt").toFile();
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output).start();
    try {
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).as("ended in time").isTrue();
      return process.exitValue();
    } finally {
      process.destroyForcibly();
    }
  }

  /** Runs test classes in a separate process. Exits with 0 if tests were found and all passed. */
  static final class SuiteMain {
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
}
