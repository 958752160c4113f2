package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.apple.foundationdb.FDBException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import lectus.store.testing.TestJava;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process with a limit on file sizes simulates a full disk: its log cannot grow. */
class FailedLogTest {
  private static final Path SHELL = Path.of("/bin/sh");

  /** 50 or 100 MB, as shells count in blocks of 512 or 1 024 bytes. The native library fits. */
  private static final int MAX_FILE_BLOCKS = 100_000;

  /** Commits after the store is available again. */
  private static final int AFTERWARDS = 3;

  private static final int KEY_BYTES = 8;
  private static final int VALUE_BYTES = 5_000_000;
  private static final long NO_FLUSH_BYTES = 1 << 30;

  @TempDir Path temporary;
  private Path folder;

  @BeforeEach
  void nameFolder() {
    folder = temporary.resolve("store");
  }

  @Test
  void store_that_cannot_write_its_log_is_opened_again_and_keeps_what_it_acknowledged()
      throws Exception {
    assumeTrue(Files.isExecutable(SHELL), "needs a shell that limits file sizes");
    List<String> answers = answersOfWriter();

    int inDoubt = answers.indexOf("1021");
    int again = inDoubt + answers.subList(inDoubt, answers.size()).indexOf("0");
    assertThat(inDoubt).isPositive();
    assertThat(answers.subList(0, inDoubt)).containsOnly("0");
    assertThat(answers.subList(inDoubt + 1, again)).containsOnly("1514").isNotEmpty();
    assertThat(answers.subList(again, answers.size())).containsOnly("0").hasSize(AFTERWARDS);
    try (RocksEngine engine = RocksEngine.open(folder, EngineOptions.defaults())) {
      List<String> keys =
          Commits.rows(engine, "k", "l").stream().map(row -> row.substring(0, KEY_BYTES)).toList();
      assertThat(keys)
          .containsAll(
              IntStream.range(0, answers.size())
                  .filter(number -> answers.get(number).equals("0"))
                  .mapToObj(FailedLogTest::key)
                  .toList());
    }
  }

  private List<String> answersOfWriter() throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    String limited = "ulimit -f " + MAX_FILE_BLOCKS + "; exec \"$@\"";
    command.addAll(List.of(SHELL.toString(), "-c", limited, "sh"));
    command.addAll(TestJava.command(256, "-XX:-UsePerfData", "-Djava.io.tmpdir=" + temporary));
    command.addAll(List.of(Writer.class.getName(), folder.toString()));
    Process writer =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    List<String> answers =
        writer.inputReader().lines().filter(line -> line.matches("\\d+")).toList();
    assertThat(writer.waitFor(30, TimeUnit.SECONDS)).isTrue();
    return answers;
  }

  private static String key(int number) {
    return String.format("k%07d", number);
  }

  /**
   * Commits until some time after the first failures. Prints the code of each answer, 0 for
   * success.
   */
  static final class Writer {
    private Writer() {}

    public static void main(String[] arguments) {
      EngineOptions options = EngineOptions.defaults().withMemory(1 << 20, NO_FLUSH_BYTES);
      RocksEngine engine = RocksEngine.open(Path.of(arguments[0]), options);
      boolean failed = false;
      int afterwards = 0;
      for (int i = 0; afterwards < AFTERWARDS; i++) {
        int code = commit(engine, i);
        System.out.println(code);
        failed |= code != 0;
        afterwards += failed && code == 0 ? 1 : 0;
      }
      System.out.flush();
      Runtime.getRuntime().halt(0);
    }

    private static int commit(Engine engine, int number) {
      try {
        byte[] key = Commits.bytes(key(number));
        Commits.commit().set(key, new byte[VALUE_BYTES]).on(engine);
        return 0;
      } catch (CompletionException failure) {
        return ((FDBException) failure.getCause()).getCode();
      }
    }
  }
}
