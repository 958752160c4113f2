package lectus.script;

import static lectus.script.ScriptsTest.Functions.filter;
import static lectus.script.ScriptsTest.Functions.filtered;
import static lectus.script.ScriptsTest.Functions.program;
import static lectus.script.ScriptsTest.Functions.shown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lectus.script.Scripts.Pool;
import lectus.script.Scripts.ScriptSettings;
import lectus.script.Scripts.ScriptSettings.EngineChoice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/** Children and who has them. */
final class ScriptTurnsTest {
  /** Longer than any test. */
  private static final int FOR_EVER = 600;

  /** So that a call which is meant to end does, where another is meant to be ended. */
  private static final int PATIENT_SECONDS = 4;

  private static final String GOOD = filter("function() { return true; }");
  private static final String LOOP = filter("function() { for (;;) {} }");

  private final Set<ProcessHandle> before = children();
  private final List<Scripts> opened = new ArrayList<>();

  @AfterEach
  void end() {
    opened.forEach(Scripts::close);
    until(() -> started().isEmpty());
  }

  private Scripts scripts(int processes, int seconds) {
    return scripts(processes, seconds, Duration.ofMinutes(1));
  }

  private Scripts scripts(int processes, int seconds, Duration idle) {
    Scripts scripts =
        new Scripts(
            new ScriptSettings(EngineChoice.AUTO, processes, 64, seconds, 64 << 20),
            idle.toNanos());
    opened.add(scripts);
    return scripts;
  }

  private static Set<ProcessHandle> children() {
    return ProcessHandle.current().children().collect(Collectors.toSet());
  }

  private Set<ProcessHandle> started() {
    Set<ProcessHandle> started = children();
    started.removeAll(before);
    return started;
  }

  private static CompletableFuture<Outcome> run(Scripts scripts, String account, String design) {
    return scripts
        .run(Pool.INTERACTIVE, account, program(design), List.of(filtered("{}", "{}")))
        .get(0);
  }

  private static void until(BooleanSupplier condition) {
    long end = System.nanoTime() + Duration.ofMinutes(1).toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end).isNegative();
      LockSupport.parkNanos(5_000_000);
    }
  }

  private static String looping(int number) {
    return LOOP.replace("for", "/* " + number + " */ for");
  }

  @ParameterizedTest
  @CsvSource({"1,4", "2,4"})
  void functions_that_never_end_hold_up_no_other_account(int processes, int loops) {
    Scripts scripts = scripts(processes, FOR_EVER);
    List<CompletableFuture<Outcome>> bad = new ArrayList<>();
    for (int number = 0; number < loops; number++) {
      bad.add(run(scripts, "bad" + number, LOOP));
      bad.add(run(scripts, "bad" + number, LOOP));
    }
    for (int number = 0; number < 8; number++) {
      assertThat(shown(run(scripts, "good" + number, GOOD))).isEqualTo("true");
    }
    assertThat(bad).noneMatch(CompletableFuture::isDone);
    // One that was ended may not have gone yet.
    until(() -> started().size() <= processes + 1);
  }

  @Test
  void one_that_never_ends_holds_up_no_other_function_of_its_account() {
    Scripts scripts = scripts(1, FOR_EVER);
    CompletableFuture<Outcome> bad = run(scripts, "db", LOOP);
    assertThat(shown(run(scripts, "db", GOOD))).isEqualTo("true");
    assertThat(bad).isNotDone();
  }

  @Test
  void an_account_with_many_functions_that_never_end_counts_as_slow_with_all() {
    Scripts scripts = scripts(1, FOR_EVER);
    List<CompletableFuture<Outcome>> bad = new ArrayList<>();
    for (int number = 0; number < 40; number++) {
      bad.add(run(scripts, "bad", looping(number)));
    }
    for (int number = 0; number < 8; number++) {
      assertThat(shown(run(scripts, "good", GOOD))).isEqualTo("true");
    }
    assertThat(bad).noneMatch(CompletableFuture::isDone);
    assertThat(shown(run(scripts, "good", looping(40).replace("(;;)", "(;false;)"))))
        .isEqualTo("false");
  }

  @Test
  void one_that_others_have_passed_ends_as_any_other() {
    Scripts scripts = scripts(1, PATIENT_SECONDS);
    CompletableFuture<Outcome> first = run(scripts, "first", LOOP);
    CompletableFuture<Outcome> second = run(scripts, "second", LOOP);
    CompletableFuture<Outcome> slow =
        run(
            scripts,
            "slow",
            filter(
                "function() { var end = Date.now() + 500; while (Date.now() < end) {} return 1;"
                    + " }"));
    assertThat(shown(run(scripts, "good", GOOD))).isEqualTo("true");
    assertThat(shown(slow)).isEqualTo("true");
    assertThat(shown(first)).isEqualTo("The function filters.f took too much time.");
    assertThat(shown(second)).isEqualTo("The function filters.f took too much time.");
  }

  @Test
  void a_slow_function_has_one_child_at_a_time() {
    Scripts scripts = scripts(3, PATIENT_SECONDS, Duration.ofMillis(200));
    assertThat(shown(run(scripts, "bad", LOOP))).endsWith(" took too much time.");
    List<CompletableFuture<Outcome>> bad = new ArrayList<>();
    for (int number = 0; number < 60; number++) {
      bad.add(run(scripts, "bad", LOOP));
    }
    assertThat(shown(run(scripts, "good", GOOD))).isEqualTo("true");
    assertThat(bad.get(59)).isNotDone();
    // Those that have nothing to do end.
    until(() -> started().size() == 1);
  }

  @Test
  void one_account_may_have_all_children() {
    Scripts scripts = scripts(3, FOR_EVER);
    for (int number = 0; number < 3; number++) {
      run(scripts, "db", LOOP);
    }
    until(() -> started().size() == 3);
  }

  @Test
  void children_end_when_nobody_calls() {
    Scripts scripts = scripts(1, FOR_EVER, Duration.ofMillis(200));
    for (int again = 0; again < 2; again++) {
      assertThat(shown(run(scripts, "db", GOOD))).isEqualTo("true");
      until(() -> started().isEmpty());
    }
  }

  @Test
  void what_its_child_cannot_end_is_ended_by_the_servers_clock() {
    Scripts scripts = scripts(1, 1);
    assumeTrue(scripts.engine().startsWith("V8"));
    // V8 looks at nothing else while it searches.
    CompletableFuture<Outcome> bad =
        run(
            scripts,
            "db",
            filter("function() { return Array.prototype.includes.call({length: 9e15}, 1); }"));
    until(() -> !started().isEmpty());
    Set<ProcessHandle> its = started();
    assertThat(shown(bad)).isEqualTo("The function filters.f took too much time.");
    until(() -> its.stream().noneMatch(it -> it.isAlive()));
    assertThat(shown(run(scripts, "db", GOOD))).isEqualTo("true");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void a_child_that_takes_too_much_memory_is_ended() {
    Scripts scripts = scripts(1, 30);
    assumeTrue(scripts.engine().startsWith("V8"));
    assertThat(
            shown(
                run(
                    scripts,
                    "db",
                    filter(
                        "function() { for (var a = [];;) a.push(new Uint8Array(1 <<"
                            + " 20).fill(1)); }"))))
        .isEqualTo("The function filters.f took too much memory.");
    assertThat(shown(run(scripts, "db", GOOD))).isEqualTo("true");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void a_function_that_ends_its_child_has_not_that_of_others() {
    Scripts scripts = scripts(1, 30);
    assumeTrue(scripts.engine().startsWith("V8"));
    String bomb = filter("function() { return new Uint8Array(1e9).fill(1).length; }");
    assertThat(shown(run(scripts, "bad", bomb))).endsWith(" took too much memory.");
    assertThat(shown(run(scripts, "good", GOOD))).isEqualTo("true");
    Set<ProcessHandle> its = started();
    for (int again = 0; again < 2; again++) {
      CompletableFuture<Outcome> more = run(scripts, "bad", bomb);
      assertThat(shown(run(scripts, "good", GOOD))).isEqualTo("true");
      assertThat(shown(more)).endsWith(" took too much memory.");
    }
    assertThat(its).as("one of them is for good functions").anyMatch(ProcessHandle::isAlive);
  }

  @ParameterizedTest
  @CsvSource({
    "-1000,0,64",
    "95,0,64",
    "96,1,8",
    "116,1,13",
    "239,1,43",
    "240,2,14",
    "575,2,55",
    "576,3,32",
    "767,3,47",
    "768,4,32",
    "1279,4,63",
    "1280,4,64",
    "99999,4,64"
  })
  void there_are_as_many_children_as_there_is_memory_for(
      long megabytes, int children, int heapMegabytes) {
    ScriptSettings most = new ScriptSettings(EngineChoice.AUTO, 1, 64, 5, 0);
    ScriptSettings fitting = most.fitting(megabytes << 20);

    assertThat(fitting.children()).isEqualTo(children);
    assertThat(fitting.heapMegabytes()).isEqualTo(heapMegabytes);
    assertThat(fitting.memoryOfAll()).isLessThanOrEqualTo(Math.max(0, megabytes << 20));
    assertThat(most.fittingAsChosen(megabytes << 20).children())
        .isEqualTo(Math.max(1, Math.min(4, megabytes / 320)));
  }

  @ParameterizedTest
  @CsvSource({"RHINO,96,1", "V8,96,1", "V8,240,2"})
  void where_few_children_fit_both_pools_share_them(
      EngineChoice engine, long megabytes, int children) {
    ScriptSettings most = new ScriptSettings(engine, 1, 64, FOR_EVER, 64 << 20);
    Scripts scripts = new Scripts(most.fitting(megabytes << 20));
    opened.add(scripts);
    for (int number = 0; number < 16; number++) {
      String account = "db" + number % 3;
      String design = GOOD.replace("true", number + " >= 0");
      List<Call> calls = List.of(filtered("{\"a\":\"" + "x".repeat(100_000) + "\"}", "{}"));
      assertThat(shown(scripts.run(Pool.BACKGROUND, account, program(design), calls).get(0)))
          .isEqualTo("true");
      assertThat(shown(run(scripts, account, design))).isEqualTo("true");
    }
    assertThat(shown(run(scripts, "bad", filter("function() { for (var a = [0];;) a.push(a); }"))))
        .endsWith(" took too much memory.");
    assertThat(shown(run(scripts, "db", GOOD))).isEqualTo("true");
    assertThat(started().size()).isBetween(1, children);
  }

  @Test
  void where_none_fits_functions_fail_with_a_sentence() {
    ScriptSettings none = new ScriptSettings(EngineChoice.AUTO, 1, 64, 1, 64 << 20).fitting(0);
    Scripts scripts = new Scripts(none);
    opened.add(scripts);
    assertThat(shown(run(scripts, "db", GOOD)))
        .startsWith("Functions of design documents do not run here: ");
    assertThat(started()).isEmpty();
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void a_call_that_takes_long_lets_others_go_first() {
    Scripts scripts = scripts(1, PATIENT_SECONDS);
    CompletableFuture<Outcome> bad = run(scripts, "db", LOOP);
    until(() -> priorities().equals(Set.of("19")));
    assertThat(shown(bad)).endsWith(" took too much time.");
    assertThat(shown(run(scripts, "db", GOOD))).isEqualTo("true");
    until(() -> priorities().equals(Set.of("0")));
  }

  /** As Linux has them, of the threads that run functions. */
  private Set<String> priorities() {
    Set<String> found = new HashSet<>();
    for (ProcessHandle child : started()) {
      Path threads = Path.of("/proc", String.valueOf(child.pid()), "task");
      try (Stream<Path> all = Files.list(threads)) {
        for (Path thread : all.toList()) {
          String[] named = Files.readString(thread.resolve("stat")).split("[()]");
          if (named[1].equals("lectus-calls")) {
            found.add(named[2].split(" ")[17]);
          }
        }
      } catch (IOException ended) {
        // It is looked at again.
      }
    }
    return found;
  }

  @Test
  void a_call_is_tried_once_more_when_its_child_ends() {
    Scripts scripts = scripts(1, FOR_EVER);
    String design = filter("function(doc) { for (; doc.bad;) {} return true; }");
    List<CompletableFuture<Outcome>> calls =
        scripts.run(
            Pool.INTERACTIVE,
            "db",
            program(design),
            List.of(filtered("{}", "{}"), filtered("{\"bad\":1}", "{}"), filtered("{}", "{}")));
    assertThat(shown(calls.get(0))).isEqualTo("true");
    ProcessHandle first = started().iterator().next();
    first.destroyForcibly();
    until(() -> started().stream().anyMatch(it -> !it.equals(first)));
    ProcessHandle second =
        started().stream().filter(it -> !it.equals(first)).findFirst().orElseThrow();
    // It has not only started.
    until(() -> second.info().totalCpuDuration().filter(it -> it.toSeconds() >= 2).isPresent());
    assertThat(calls.get(1)).isNotDone();
    second.destroyForcibly();
    assertThat(shown(calls.get(1))).isEqualTo("The function filters.f ended its process.");
    assertThat(shown(calls.get(2))).isEqualTo("true");
  }

  @Test
  void without_a_child_functions_fail_with_a_sentence_and_are_tried_again() {
    Scripts scripts = scripts(1, FOR_EVER);
    String home = System.getProperty("java.home");
    System.setProperty("java.home", "/nowhere");
    try {
      assertThat(shown(run(scripts, "db", GOOD)))
          .isEqualTo("Functions cannot be run: no child process starts here.");
    } finally {
      System.setProperty("java.home", home);
    }
    until(() -> shown(run(scripts, "db", GOOD)).equals("true"));
  }

  @Test
  void what_a_function_logs_names_its_design_document() {
    Logger logger = (Logger) LoggerFactory.getLogger("lectus.script");
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    logger.addAppender(log);
    try {
      assertThat(shown(run(scripts(1, 30), "x", filter("function() { log('here'); return 1; }"))))
          .isEqualTo("true");
    } finally {
      logger.detachAppender(log);
    }
    assertThat(log.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .containsExactly("A function of db/_design/d says: here");
  }

  @ParameterizedTest
  @CsvSource({"V8,Rhino 1.9.2,1", "AUTO,Rhino 1.9.2,0", "RHINO,Rhino 1.9.2,0"})
  void who_asks_for_v8_is_told_of_another_engine(EngineChoice wanted, String engine, int lines) {
    Logger logger = (Logger) LoggerFactory.getLogger(Scripts.class);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    logger.addAppender(log);
    try {
      Scripts.tellIfOther(wanted, engine);
      Scripts.tellIfOther(wanted, ScriptEngine.V8.version());
    } finally {
      logger.detachAppender(log);
    }
    assertThat(log.list).hasSize(lines);
  }
}
