package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import lectus.store.embedded.engine.folder.DataFolder;
import lectus.store.embedded.engine.folder.LogRecord;
import lectus.store.testing.GoldenRows;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The exact bytes that mark a folder as a store, and those of the engine's own keys. */
final class GoldenFolderTest {
  private static final String FORMAT_FILE = "lectus.format";

  @TempDir Path temporary;

  @Test
  void the_format_of_a_folder() throws IOException {
    GoldenRows golden = GoldenRows.of("DataFolder");
    Path made = temporary.resolve("made");
    try (DataFolder folder = DataFolder.take(made)) {
      folder.beginCreation();
      folder.finishCreation();
    }
    golden.assertAre(
        List.of(new KeyValue(new byte[0], Files.readAllBytes(made.resolve(FORMAT_FILE)))));

    Path found = Files.createDirectories(temporary.resolve("found"));
    Files.createDirectory(found.resolve("rocks"));
    Files.write(found.resolve(FORMAT_FILE), golden.value("the only format so far"));
    try (DataFolder folder = DataFolder.take(found)) {
      assertThat(folder.isNew()).isFalse();
    }
  }

  @Test
  void the_record_of_synced_logs() {
    GoldenRows golden = GoldenRows.of("LogRecord");
    LogRecord two = new LogRecord(160_000_000, new TreeMap<>(Map.of(12L, 48_231L, 1_234_567L, 1L)));
    LogRecord none = new LogRecord(160_000_000, new TreeMap<>());

    golden.assertAre(
        Stream.of(two, none)
            .map(record -> record.encode().getBytes(StandardCharsets.US_ASCII))
            .map(content -> new KeyValue(new byte[0], content))
            .toList());
    assertThat(decoded(golden, "two logs")).isEqualTo(two);
    assertThat(decoded(golden, "no log: versions go on above the ceiling")).isEqualTo(none);
  }

  private static LogRecord decoded(GoldenRows golden, String title) {
    return LogRecord.decode(new String(golden.value(title), StandardCharsets.US_ASCII));
  }

  @Test
  void keys_of_the_engine() {
    GoldenRows golden = GoldenRows.of("SystemKeys");
    long version = 0x0102030405060708L;

    golden.assertAre(
        List.of(
            new KeyValue(SystemKeys.VERSION_CEILING, SystemKeys.encodeVersion(version)),
            new KeyValue(SystemKeys.VERSION_CEILING, SystemKeys.encodeEnd(version, version - 8)),
            new KeyValue(SystemKeys.FIRST_SHARD, new byte[0]),
            new KeyValue(SystemKeys.METADATA_VERSION, new byte[0])));
    byte[] running = golden.value("no version at or above was given out");
    assertThat(SystemKeys.decodeVersion(running)).isEqualTo(version);
    assertThat(SystemKeys.decodeNext(running)).isEqualTo(version);
    byte[] stopped =
        golden.value("the same after an orderly stop, and the last that was given out");
    assertThat(SystemKeys.decodeVersion(stopped)).isEqualTo(version);
    assertThat(SystemKeys.decodeNext(stopped)).isEqualTo(version - 7);
  }
}
