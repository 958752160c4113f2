package lectus.abuse;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * A failing disk: while it fails, every sync of a process returns EIO. No file system fails on
 * request, so a few lines of C are loaded before the C library (LD_PRELOAD).
 */
final class FailingSyncs {
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
