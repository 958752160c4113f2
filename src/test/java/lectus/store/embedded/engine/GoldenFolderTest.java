package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import lectus.store.testing.GoldenRows;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The exact bytes by which a folder is known to hold a store, and of the engine's own keys. */
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
  void keys_of_the_engine() {
    GoldenRows golden = GoldenRows.of("SystemKeys");
    long version = 0x0102030405060708L;

    golden.assertAre(
        List.of(
            new KeyValue(SystemKeys.VERSION_CEILING, SystemKeys.encodeVersion(version)),
            new KeyValue(SystemKeys.METADATA_VERSION, new byte[0])));
    assertThat(SystemKeys.decodeVersion(golden.value("no version at or above was given out")))
        .isEqualTo(version);
  }
}
