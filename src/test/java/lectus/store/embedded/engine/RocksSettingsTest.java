package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.management.ObjectName;
import lectus.error.StoreOpenException;
import lectus.store.embedded.engine.RocksEngine.NativeHeap;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

class RocksSettingsTest {
  private static final long MIB = 1L << 20;

  private static final long CACHE_BYTES = 64 * MIB;

  private static final int ROWS = 1_000;

  private static final int VALUE_BYTES = 10_000;

  static {
    NativeLibrary.load();
  }

  @TempDir Path folder;

  @Test
  void what_memtables_take_the_cache_gives_up() throws RocksDBException {
    try (RocksSettings settings = settings();
        RocksDB db = open(settings)) {
      assertThat(db.getLongProperty("rocksdb.block-cache-capacity")).isEqualTo(CACHE_BYTES);
      long before = db.getLongProperty("rocksdb.block-cache-usage");

      write(db);

      assertThat(db.getLongProperty("rocksdb.block-cache-usage") - before)
          .isGreaterThanOrEqualTo((long) ROWS * VALUE_BYTES);
    }
  }

  @Test
  void files_with_indexes_and_filters_in_one_piece_are_read() throws RocksDBException {
    try (BloomFilter filter = new BloomFilter(10);
        Options earlier =
            new Options()
                .setCreateIfMissing(true)
                .setTableFormatConfig(new BlockBasedTableConfig().setFilterPolicy(filter));
        FlushOptions flush = new FlushOptions();
        RocksDB db = RocksDB.open(earlier, folder.toString())) {
      write(db);
      db.flush(flush);
    }

    try (RocksSettings settings = settings();
        RocksDB db = open(settings)) {
      assertThat(db.get(key(ROWS - 1))).hasSize(VALUE_BYTES);
      db.compactRange();
      assertThat(db.get(key(ROWS - 1))).hasSize(VALUE_BYTES);
      assertThat(db.get(key(ROWS))).isNull();
    }
  }

  private static RocksSettings settings() {
    return new RocksSettings(
        EngineOptions.defaults().withMemory(CACHE_BYTES, 16 * MIB).withOpenFiles(64));
  }

  private RocksDB open(RocksSettings settings) throws RocksDBException {
    return RocksDB.open(settings.options().setCreateIfMissing(true), folder.toString());
  }

  private static void write(RocksDB db) throws RocksDBException {
    Random random = new Random(1);
    byte[] value = new byte[VALUE_BYTES];
    for (int i = 0; i < ROWS; i++) {
      random.nextBytes(value);
      db.put(key(i), value);
    }
  }

  private static byte[] key(int number) {
    return String.format("row%05d", number).getBytes(StandardCharsets.US_ASCII);
  }

  @Nested
  final class NativeLibraryTest {
    @TempDir private Path folder;

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
              "The embedded store runs on Linux and macOS (x86-64 and ARM64) and on Windows"
                  + " (x86-64), not on Linux (s390x); a FoundationDB cluster can be used there"
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
    void it_is_unpacked_once_and_again_only_if_it_is_not_whole() throws IOException {
      Path unpacked = NativeLibrary.unpacked(Optional.of(folder.toString())).orElseThrow();
      Path library = onlyFile(unpacked);
      FileTime first = Files.getLastModifiedTime(library);
      assertThat(NativeLibrary.unpacked(Optional.of(folder.toString()))).contains(unpacked);
      assertThat(Files.getLastModifiedTime(onlyFile(unpacked))).isEqualTo(first);

      long whole = Files.size(library);
      Files.write(library, new byte[17]);
      assertThat(NativeLibrary.unpacked(Optional.of(folder.toString()))).contains(unpacked);
      assertThat(onlyFile(unpacked)).hasSize(whole);

      byte[] content = Files.readAllBytes(library);
      byte[] other = content.clone();
      other[other.length / 2]++;
      Files.write(library, other);
      assertThat(NativeLibrary.unpacked(Optional.of(folder.toString()))).contains(unpacked);
      assertThat(library).hasBinaryContent(content);
    }

    private static Path onlyFile(Path folder) throws IOException {
      try (Stream<Path> files = Files.list(folder)) {
        List<Path> all = files.toList();
        assertThat(all).hasSize(1);
        return all.get(0);
      }
    }

    @Test
    void servers_that_start_at_once_unpack_the_same() {
      List<CompletableFuture<Optional<Path>>> starts =
          IntStream.range(0, 4)
              .mapToObj(
                  number ->
                      CompletableFuture.supplyAsync(
                          () -> NativeLibrary.unpacked(Optional.of(folder.toString())),
                          work -> new Thread(work).start()))
              .toList();
      assertThat(starts.stream().map(CompletableFuture::join).distinct())
          .singleElement()
          .matches(Optional::isPresent);
    }

    @Test
    void nothing_is_loaded_from_where_others_may_write_or_what_they_linked() throws IOException {
      Path mine = folder.resolve("mine");
      Path unpacked = NativeLibrary.unpacked(Optional.of(mine.toString())).orElseThrow();
      Files.setPosixFilePermissions(unpacked, PosixFilePermissions.fromString("rwxrwxrwx"));
      assertThat(NativeLibrary.unpacked(Optional.of(mine.toString()))).isEmpty();
      Files.setPosixFilePermissions(unpacked, PosixFilePermissions.fromString("rwx------"));
      assertThat(NativeLibrary.unpacked(Optional.of(mine.toString()))).contains(unpacked);

      Path link = Files.createSymbolicLink(folder.resolve("link"), mine);
      assertThat(NativeLibrary.unpacked(Optional.of(link.toString()))).isEmpty();
      Path file = Files.writeString(folder.resolve("file"), "no folder");
      assertThat(NativeLibrary.unpacked(Optional.of(file.toString()))).isEmpty();
    }

    @Test
    void it_is_loaded_as_often_as_wanted() {
      NativeLibrary.load();
      NativeLibrary.load();
    }
  }

  @Test
  void the_native_heap_is_trimmed_where_the_jvm_can() throws Exception {
    boolean known =
        Arrays.stream(
                ManagementFactory.getPlatformMBeanServer()
                    .getMBeanInfo(new ObjectName("com.sun.management:type=DiagnosticCommand"))
                    .getOperations())
            .anyMatch(operation -> operation.getName().equals("systemTrimNativeHeap"));

    assertThat(NativeHeap.trim()).isEqualTo(known);
  }
}
