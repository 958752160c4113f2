package lectus.abuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import lectus.store.testing.Await;
import lectus.store.testing.SmallDisk;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A disk that fills up and is freed, one that fails, file descriptors used up: writes are refused
 * and reads go on. Once the trouble is over, writes go on, too, in the same process. In the end
 * everything acknowledged is there.
 */
final class TroubledDiskTest {
  private static final int HEAP_MEGABYTES = 128;
  private static final int STOP_SECONDS = 60;
  private static final int DISK_MEGABYTES = 160;
  private static final int STORE_BROKEN = 3;
  private static final int RESERVED = 8 << 20;
  private static final String BODY = "{\"x\":\"" + "y".repeat(50_000) + "\"}";

  @TempDir private Path folder;
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final TreeSet<String> stored = new TreeSet<>();
  @AutoClose private ServerProcess server;
  private int number;

  @BeforeEach
  void needLinux() {
    assumeTrue(ServerProcess.canBeWatched() && !TestStores.isCluster());
  }

  @Test
  void disk_that_fills_up_and_is_freed() {
    try (SmallDisk disk = SmallDisk.mount(data(), DISK_MEGABYTES)) {
      start(Map.of(), "store.reserved-bytes=" + RESERVED);
      call("PUT", "/other", "");
      for (int i = 0; i < 5; i++) {
        write();
      }
      disk.fillUpTo(RESERVED - 4096);

      assertRefusedWith(507);
      assertThat(call("PUT", "/db/refused", BODY).body()).contains("insufficient_storage", "MB");
      assertReadsGoOn();
      assertDeletionsGoOn();
      assertThat(call("DELETE", "/other", "").statusCode()).isEqualTo(200);

      server.stop(STOP_SECONDS);
      server = ServerProcess.start(folder, HEAP_MEGABYTES, "store.reserved-bytes=" + RESERVED);
      assertReadsGoOn();
      assertRefusedWith(507);

      disk.clear();
      assertWritesGoOn();
      assertEndsSound(1);
    }
  }

  @Test
  void disk_that_fails() throws IOException {
    FailingSyncs disk = FailingSyncs.in(folder);
    start(disk.environment());
    write();
    disk.begin();

    assertRefusedWith(503);
    assertReadsGoOn();

    disk.end();
    assertWritesGoOn();
    assertEndsSound(1);
  }

  /** A file that cannot grow stands for all other failures of a write. */
  private void stopLogFromGrowing() {
    server.limit("fsize", "1000000");
    assertRefusedWith(503);
    assertReadsGoOn();
    server.limit("fsize", "unlimited");
    assertWritesGoOn();
  }

  @Test
  void log_that_cannot_be_written_and_descriptors_used_up() {
    start(Map.of());
    write();
    // Classes in a jar need no descriptor, but those of a build do: they are loaded now.
    stopLogFromGrowing();
    server.limit("nofile", Integer.toString(server.descriptors() + 1));

    // The store does not notice until it needs another file.
    assertRefusedWith(503);
    assertReadsGoOn();

    server.limit("nofile", "4096");
    assertWritesGoOn();
    assertEndsSound(2);
  }

  @Test
  void store_that_cannot_be_opened_again_ends_the_process() throws IOException {
    start(Map.of());
    write();
    server.limit("fsize", "1000000");
    assertRefusedWith(503);
    Files.delete(data().resolve("rocks").resolve("CURRENT"));
    server.limit("fsize", "unlimited");

    int status = server.awaitEnd(STOP_SECONDS);
    String log = String.join("\n", server.log());
    assertThat(log).contains("The store cannot go on: it could not be opened again.");
    assertThat(status).as(log).isEqualTo(STORE_BROKEN);
  }

  private Path data() {
    return ServerProcess.data(folder);
  }

  private void start(Map<String, String> environment, String... settings) {
    server = ServerProcess.start(folder, HEAP_MEGABYTES, environment, settings);
    assertThat(call("PUT", "/db", "").statusCode()).isEqualTo(201);
  }

  /**
   * Writes until a write gets this status; the outcome of the write that met the trouble is in
   * doubt.
   */
  private void assertRefusedWith(int status) {
    Await.until("writes are refused with " + status, () -> isRefusedAfterSome(status));
    assertThat(write()).isEqualTo(status);
  }

  /** Without pauses: it takes thousands of writes until some troubles are met. */
  private boolean isRefusedAfterSome(int status) {
    for (int i = 0; i < 100; i++) {
      if (write() == status) {
        return true;
      }
    }
    return false;
  }

  private void assertReadsGoOn() {
    assertThat(call("GET", stored.first(), null).statusCode()).isEqualTo(200);
    assertThat(call("GET", "/db/_all_docs?limit=5", null).statusCode()).isEqualTo(200);
  }

  /** Also where they come together with what cannot be stored. */
  private void assertDeletionsGoOn() {
    String path = stored.first();
    assertThat(call("DELETE", path + "?rev=" + revision(path), "").statusCode()).isEqualTo(200);
    stored.remove(path);

    path = stored.first();
    String purge = "{\"" + id(path) + "\":[\"" + revision(path) + "\"]}";
    assertThat(call("POST", "/db/_purge", purge).statusCode()).isEqualTo(201);
    stored.remove(path);

    path = stored.first();
    String deletion =
        "{\"_id\":\"" + id(path) + "\",\"_rev\":\"" + revision(path) + "\",\"_deleted\":true}";
    String answer =
        call("POST", "/db/_bulk_docs", "{\"docs\":[{\"_id\":\"new\"}," + deletion + "]}").body();
    assertThat(answer).contains("\"id\":\"new\",\"error\":\"insufficient_storage\"");
    assertThat(answer).contains("\"ok\":true");
    assertThat(call("GET", path, null).statusCode()).isEqualTo(404);
    stored.remove(path);
  }

  private static String id(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  private String revision(String path) {
    return call("GET", path, null).body().replaceAll("(?s).*\"_rev\":\"([^\"]+)\".*", "$1");
  }

  private void assertWritesGoOn() {
    Await.until("writes go on", () -> write() == 201);
    for (int i = 0; i < 20; i++) {
      assertThat(write()).isEqualTo(201);
    }
    assertThat(call("GET", stored.first(), null).statusCode()).isEqualTo(200);
  }

  private void assertEndsSound(int troubles) {
    assertThat(causes()).hasSize(troubles);
    server.stop(STOP_SECONDS);
    Aftermath.assertSoundWith(data(), stored);
  }

  /**
   * Returns the store's log lines about its trouble; RocksDB has its own, and so has the record of
   * the logs, if one is due while the disk fails.
   */
  private List<String> causes() {
    return server.log().stream()
        .filter(line -> line.matches("\\S+ (ERROR|WARN ) .*") && !line.contains(" rocksdb "))
        .filter(line -> !line.contains("The synced logs could not be recorded"))
        .toList();
  }

  private int write() {
    String path = "/db/" + number++;
    int status = call("PUT", path, BODY).statusCode();
    if (status == 201) {
      stored.add(path);
    }
    return status;
  }

  private HttpResponse<String> call(String method, String path, String body) {
    try {
      URI target = URI.create("http://127.0.0.1:" + server.port() + path);
      return http.send(
          HttpRequest.newBuilder(target)
              .method(
                  method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
              .header("Content-Type", "application/json")
              .build(),
          BodyHandlers.ofString());
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * A failing disk: while it fails, every sync of a process returns EIO. No file system fails on
   * request, so a few lines of C are loaded before the C library (LD_PRELOAD).
   */
  private static final class FailingSyncs {
    private static final String SOURCE =
        """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <stdlib.h>
        #include <unistd.h>
        static int fails(void) {
          const char *flag = getenv("DISK_FAILS_WHILE");
          return flag && access(flag, F_OK) == 0;
        }
        int fdatasync(int fd) {
          int (*real)(int) = (int (*)(int)) dlsym(RTLD_NEXT, "fdatasync");
          if (fails()) { errno = EIO; return -1; }
          return real(fd);
        }
        int fsync(int fd) {
          int (*real)(int) = (int (*)(int)) dlsym(RTLD_NEXT, "fsync");
          if (fails()) { errno = EIO; return -1; }
          return real(fd);
        }
        """;

    private final Path library;
    private final Path flag;

    private FailingSyncs(Path library, Path flag) {
      this.library = library;
      this.flag = flag;
    }

    /** Compiles the library; the test is skipped if there is no compiler. */
    static FailingSyncs in(Path folder) {
      try {
        Path source = Files.writeString(folder.resolve("eio.c"), SOURCE);
        Path library = folder.resolve("eio.so");
        assumeTrue(compiles(source, library), "needs a C compiler");
        return new FailingSyncs(library, folder.resolve("eio.flag"));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Returns the environment that the process needs. */
    Map<String, String> environment() {
      return Map.of("LD_PRELOAD", library.toString(), "DISK_FAILS_WHILE", flag.toString());
    }

    void begin() throws IOException {
      Files.createFile(flag);
    }

    void end() throws IOException {
      Files.delete(flag);
    }

    private static boolean compiles(Path source, Path library) {
      try {
        return new ProcessBuilder(
                    "cc", "-shared", "-fPIC", "-o", library.toString(), source.toString(), "-ldl")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor()
            == 0;
      } catch (IOException none) {
        return false;
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
