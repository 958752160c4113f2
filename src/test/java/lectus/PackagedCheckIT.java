package lectus;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import lectus.http.testing.LectusServer;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestJava;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code lectus check} of the packaged jar, in a process of its own. */
final class PackagedCheckIT {
  @TempDir private Path folder;

  private record Result(int status, List<String> out, List<String> err) {}

  @BeforeEach
  void aStore() {
    try (Store store = EmbeddedStores.open(data());
        LectusServer server = LectusServer.start(store)) {
      server.put("/w");
      server.put("/w/a", "{\"v\":1}");
    }
  }

  private Path data() {
    return folder.resolve("data");
  }

  private Result check(String... more) throws IOException, InterruptedException {
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    List<String> command = TestJava.packaged(128);
    command.addAll(List.of("check", "--data", data().toString()));
    Collections.addAll(command, more);
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    return new Result(process.waitFor(), Files.readAllLines(out), Files.readAllLines(err));
  }

  @Test
  void a_sound_store_has_status_0() throws Exception {
    Result result = check();

    assertThat(result.status()).isZero();
    assertThat(result.out()).singleElement().asString().startsWith("Sound: 1 database with 1 doc");
    assertThat(result.err()).isEmpty();
  }

  @Test
  void a_finding_is_a_line_and_has_status_1() throws Exception {
    try (Store store = EmbeddedStores.open(data())) {
      new TransactionRunner(store, TransactionLimits.DEFAULT)
          .run(
              tx -> {
                tx.set(new byte[] {0x01}, new byte[0]);
                return null;
              });
    }

    Result result = check();

    assertThat(result.status()).isEqualTo(1);
    assertThat(result.out()).hasSize(2).first().asString().startsWith("the store: ");
    assertThat(result.err()).isEmpty();
  }

  @Test
  void a_store_that_a_process_has_open_has_status_2_and_one_sentence() throws Exception {
    try (Store store = EmbeddedStores.open(data())) {
      assertThat(store.id()).isNotEmpty();

      Result result = check("w");

      assertThat(result.status()).isEqualTo(2);
      assertThat(result.out()).isEmpty();
      assertThat(result.err())
          .containsExactly(
              "lectus: The data directory "
                  + data()
                  + " is in use by another process (pid "
                  + ProcessHandle.current().pid()
                  + ").");
    }
    assertThat(check("w").status()).isZero();
  }
}
