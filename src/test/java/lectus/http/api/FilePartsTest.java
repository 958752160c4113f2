package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import lectus.json.JsonBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FilePartsTest {
  private static final int PART_BYTES = 128 << 10;

  @TempDir Path folder;

  @Test
  void a_file_comes_in_parts_and_none_is_empty() throws IOException {
    FolderResource.FileParts parts = partsOf("x".repeat(2 * PART_BYTES), 2 * PART_BYTES);
    JsonBuffer out = new JsonBuffer(16);

    assertThat(parts.appendNext(out)).isTrue();
    assertThat(out.length()).isEqualTo(PART_BYTES);
    assertThat(parts.appendNext(out)).isFalse();
    assertThat(out.length()).isEqualTo(2 * PART_BYTES);
  }

  @Test
  void what_was_added_since_is_not_sent() throws IOException {
    JsonBuffer out = new JsonBuffer(16);

    assertThat(partsOf("old and new", 3).appendNext(out)).isFalse();
    assertThat(out.toString()).isEqualTo("old");
  }

  @Test
  void a_file_that_became_shorter_is_broken_off() throws IOException {
    FolderResource.FileParts parts = partsOf("short", 6);

    assertThatThrownBy(() -> parts.appendNext(new JsonBuffer(16)))
        .hasCauseInstanceOf(EOFException.class);
  }

  private FolderResource.FileParts partsOf(String content, long size) throws IOException {
    Path file = Files.writeString(folder.resolve("file"), content);
    return new FolderResource.FileParts(
        new FolderResource.ServedFile(file, size, Instant.EPOCH), 0, size);
  }
}
