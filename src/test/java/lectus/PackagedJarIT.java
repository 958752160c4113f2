package lectus;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;

/** The content of the packaged jar. */
final class PackagedJarIT {
  /** With V8 for the platform it was built on, some 15 MB. */
  private static final long MAX_BYTES = 105_000_000;

  private final Path jar = Path.of(System.getProperty("lectus.jar"));

  @Test
  void it_has_the_native_libraries_of_the_platforms_that_are_carried() throws IOException {
    try (JarFile content = new JarFile(jar.toFile())) {
      assertThat(
              content.stream().map(ZipEntry::getName).filter(it -> it.startsWith("librocksdbjni")))
          .containsExactlyInAnyOrder(
              "librocksdbjni-linux64.so",
              "librocksdbjni-linux64-musl.so",
              "librocksdbjni-linux-aarch64.so",
              "librocksdbjni-linux-aarch64-musl.so",
              "librocksdbjni-osx-x86_64.jnilib",
              "librocksdbjni-osx-arm64.jnilib",
              "librocksdbjni-win64.dll");
    }
  }

  @Test
  void it_stays_small() throws IOException {
    assertThat(Files.size(jar)).isLessThan(MAX_BYTES);
  }
}
