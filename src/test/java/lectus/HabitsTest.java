package lectus;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What only a few classes may do, and which those are. Nobody is listed who does not do it. */
@AnalyzeClasses(packages = "lectus", importOptions = ImportOption.DoNotIncludeTests.class)
final class HabitsTest {
  private static final String SECTION = "## Below Vert.x";
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `([A-Z]\\w+)[.\\w]*` \\|");

  /** Classes that Vert.x does not promise to keep, and what lies below it. */
  private static final Pattern BELOW_VERTX =
      Pattern.compile("io\\.netty\\..*|io\\.vertx\\.core\\.(.*\\.)?(impl|internal|spi)\\..*");

  /** What a thread waits in. */
  private static final Map<Class<?>, Set<String>> WAITING =
      Map.of(
          Future.class, Set.of("get", "join"),
          io.vertx.core.Future.class, Set.of("await"),
          CountDownLatch.class, Set.of("await"),
          Semaphore.class, Set.of("acquire", "acquireUninterruptibly"),
          Condition.class, Set.of("await", "awaitNanos", "awaitUninterruptibly"),
          BlockingQueue.class, Set.of("take", "put"),
          ExecutorService.class, Set.of("awaitTermination", "invokeAll", "invokeAny"),
          LockSupport.class, Set.of("park", "parkNanos"),
          Thread.class, Set.of("sleep", "join"),
          Object.class, Set.of("wait"));

  /**
   * On threads of their own, but for {@code Awaiting}, which {@code EventLoopWaits} sees to, and
   * {@code Bodies}, which joins what is done. Parts of pages are made inside of transactions.
   */
  private static final Set<String> MAY_WAIT =
      Set.of(
          "lectus.document.PartsAhead",
          "lectus.server.Deployments",
          "lectus.server.HazelcastCluster",
          "lectus.http.limits.RequestThreads",
          "lectus.http.client.HttpCaller",
          "lectus.replication.Comparison",
          "lectus.script.ScriptChild",
          "lectus.script.Driver",
          "lectus.script.Turns",
          "lectus.metrics.DaemonThreads",
          "lectus.changes.notify.CoalescedAnnouncements",
          "lectus.store.Awaiting");

  /** Rooms with threads of their own, that wait for each other. */
  private static final Set<String> ROOMS_THAT_WAIT = Set.of("lectus.cli", "lectus.store.embedded");

  private static final Set<String> MESSAGES =
      Set.of("getMessage", "getLocalizedMessage", "getOriginalMessage");

  /**
   * To the log or to whoever starts the server, but for {@code JsonInput}: what is wrong with a
   * client's own JSON is the parser's to say.
   */
  private static final Set<String> MAY_SHOW_MESSAGES =
      Set.of(
          "lectus.json.JsonInput",
          "lectus.http.client.CouchClient",
          "lectus.http.client.HttpCaller",
          "lectus.replication.BatchCopy",
          "lectus.replication.ReplicationFailure",
          "lectus.relocation.Relocation",
          "lectus.server.Deployments",
          "lectus.server.ListenPort",
          "lectus.server.HazelcastCluster",
          "lectus.server.connection.ServedCertificates",
          "lectus.store.EmbeddedStores",
          "lectus.store.FoundationDbStore");

  private static final Set<String> ROOMS_THAT_SHOW_MESSAGES =
      Set.of("lectus", "lectus.cli", "lectus.config", "lectus.audit", "lectus.store.embedded");

  @ArchTest
  static void whoever_uses_what_lies_below_vertx_is_in_the_list(JavaClasses classes)
      throws IOException {
    Set<String> users =
        classes.stream()
            .filter(
                user ->
                    user.getDirectDependenciesFromSelf().stream()
                        .map(Dependency::getTargetClass)
                        .map(JavaClass::getBaseComponentType)
                        .anyMatch(used -> BELOW_VERTX.matcher(used.getName()).matches()))
            .map(user -> simpleName(outermost(user)))
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(users).isEqualTo(listed());
  }

  private static Set<String> listed() throws IOException {
    String text = Files.readString(Path.of("ARCHITECTURE.md"));
    int from = text.indexOf(SECTION);
    return ROW.matcher(text.substring(from, text.indexOf("\n## ", from)))
        .results()
        .map(row -> row.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** What waits by itself is seen here; what waits for the store, by {@code EventLoopWaits}. */
  @ArchTest
  static void threads_wait_in_few_places(JavaClasses classes) {
    assertThat(callers(classes, HabitsTest::waits, ROOMS_THAT_WAIT)).isEqualTo(MAY_WAIT);
  }

  private static boolean waits(JavaAccess<?> call) {
    return WAITING.entrySet().stream()
        .anyMatch(
            waiting ->
                call.getTargetOwner().isAssignableTo(waiting.getKey())
                    && waiting.getValue().contains(call.getName()));
  }

  /** On one or two processors each such step would start a thread of its own. */
  @ArchTest
  static void nothing_runs_on_the_common_pool(JavaClasses classes) {
    assertThat(callers(classes, HabitsTest::usesCommonPool, Set.of())).isEmpty();
  }

  private static boolean usesCommonPool(JavaAccess<?> call) {
    String name = call.getName();
    boolean takesExecutor =
        call instanceof JavaCodeUnitAccess<?> called
            && called.getTarget().getRawParameterTypes().stream()
                .anyMatch(type -> type.isEquivalentTo(Executor.class));
    boolean ofFuture = call.getTargetOwner().isAssignableTo(CompletionStage.class);
    boolean later = name.endsWith("Async") || name.equals("delayedExecutor");
    return (ofFuture && later && !takesExecutor)
        || Set.of("commonPool", "parallelStream", "parallel").contains(name);
  }

  /** A failure's message is for whoever runs the server. Its clients are told a LectusError. */
  @ArchTest
  static void what_an_exception_says_is_seen_by_few(JavaClasses classes) {
    assertThat(callers(classes, HabitsTest::shows, ROOMS_THAT_SHOW_MESSAGES))
        .isEqualTo(MAY_SHOW_MESSAGES);
  }

  private static boolean shows(JavaAccess<?> call) {
    return call.getTargetOwner().isAssignableTo(Throwable.class)
        && MESSAGES.contains(call.getName());
  }

  /** Classes outside of these rooms, and of the rooms below them, that have such calls. */
  private static Set<String> callers(
      JavaClasses classes, Predicate<JavaAccess<?>> calls, Set<String> rooms) {
    return classes.stream()
        .filter(caller -> rooms.stream().noneMatch(room -> isIn(caller, room)))
        .filter(caller -> accesses(caller).anyMatch(calls))
        .map(HabitsTest::outermost)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Stream<JavaAccess<?>> accesses(JavaClass caller) {
    return Stream.concat(
        caller.getMethodCallsFromSelf().stream(), caller.getMethodReferencesFromSelf().stream());
  }

  private static boolean isIn(JavaClass caller, String room) {
    String home = caller.getPackageName();
    return home.equals(room) || (room.contains(".") && home.startsWith(room + "."));
  }

  private static String outermost(JavaClass it) {
    return it.getName().replaceAll("\\$.*", "");
  }

  private static String simpleName(String name) {
    return name.substring(name.lastIndexOf('.') + 1);
  }
}
