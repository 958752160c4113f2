package lectus.http.node;

import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.zip.CRC32C;
import lectus.http.folder.FileTypes;

/**
 * A file of a page in the jar.
 *
 * @param type its media type
 * @param tag its ETag, which changes with the content
 */
record PackagedFile(String type, String tag, Buffer content) {
  /**
   * @param path from this package on
   */
  static PackagedFile read(String path) {
    try (InputStream in = PackagedFile.class.getResourceAsStream(path)) {
      byte[] bytes = in.readAllBytes();
      CRC32C sum = new CRC32C();
      sum.update(bytes);
      String tag = HexFormat.of().toHexDigits((int) sum.getValue());
      return new PackagedFile(FileTypes.of(path), tag, Buffer.buffer(bytes));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
