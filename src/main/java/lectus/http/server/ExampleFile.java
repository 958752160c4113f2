package lectus.http.server;

import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * A file of the example page, as it lies in the jar.
 *
 * @param type its media type
 * @param tag changes when the content does
 */
record ExampleFile(String type, String tag, Buffer content) {
  private static final Map<String, ExampleFile> BY_NAME =
      Map.of(
          "", read("index.html", "text/html; charset=utf-8"),
          "page.css", read("page.css", "text/css; charset=utf-8"),
          "page.js", read("page.js", "text/javascript; charset=utf-8"),
          "changes-socket.js", read("changes-socket.js", "text/javascript; charset=utf-8"),
          "icon.svg", read("icon.svg", "image/svg+xml"));

  /** Null if there is none; the page itself has no name. */
  static ExampleFile of(String name) {
    return BY_NAME.get(name);
  }

  private static ExampleFile read(String name, String type) {
    try (InputStream in = ExampleFile.class.getResourceAsStream("example/" + name)) {
      byte[] bytes = in.readAllBytes();
      CRC32C sum = new CRC32C();
      sum.update(bytes);
      String tag = HexFormat.of().toHexDigits((int) sum.getValue());
      return new ExampleFile(type, tag, Buffer.buffer(bytes));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
