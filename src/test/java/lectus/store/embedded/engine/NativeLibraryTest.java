package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import lectus.error.StoreOpenException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class NativeLibraryTest {
  @ParameterizedTest
  @CsvSource({
    "Linux, amd64, true",
    "Linux, aarch64, true",
    "Linux, x86, false",
    "Linux, s390x, false",
    "Linux, riscv64, false",
    "Linux, ppc64le, false",
    "Mac OS X, x86_64, true",
    "Mac OS X, aarch64, true",
    "Windows 11, amd64, true",
    "Windows 11, aarch64, false",
    "FreeBSD, amd64, false",
  })
  void some_platforms_are_carried(String system, String processor, boolean carried) {
    assertThat(NativeLibrary.isCarried(system, processor)).isEqualTo(carried);
  }

  @Test
  void another_platform_gets_a_sentence() {
    Runnable missing =
        () -> {
          throw new RuntimeException("librocksdbjni-linux-s390x.so was not found inside JAR.");
        };

    assertThatThrownBy(() -> NativeLibrary.load(missing, "Linux", "s390x"))
        .isInstanceOf(StoreOpenException.class)
        .hasMessage(
            "The embedded store runs on Linux and macOS (x86-64 and ARM64) and on Windows (x86-64),"
                + " not on Linux (s390x); a FoundationDB cluster can be used there"
                + " (store = foundationdb).");
  }

  @Test
  void a_platform_that_rocksdb_does_not_know_gets_the_same_sentence() {
    Runnable unknown =
        () -> {
          throw new ExceptionInInitializerError(new UnsupportedOperationException("no name"));
        };

    assertThatThrownBy(() -> NativeLibrary.load(unknown, "FreeBSD", "amd64"))
        .isInstanceOf(StoreOpenException.class)
        .hasMessageContaining("not on FreeBSD (amd64)");
  }

  @Test
  void what_the_system_refuses_is_told() {
    Runnable refused =
        () -> {
          throw new UnsatisfiedLinkError("failed to map segment from shared object.");
        };

    assertThatThrownBy(() -> NativeLibrary.load(refused, "Linux", "amd64"))
        .isInstanceOf(StoreOpenException.class)
        .hasMessageStartingWith(
            "RocksDB's library cannot be loaded: failed to map segment from shared object. It is"
                + " unpacked to ");
  }

  @Test
  void it_is_loaded_as_often_as_wanted() {
    NativeLibrary.load();
    NativeLibrary.load();
  }
}
