package lectus.http.node;

import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * A file of the example page in the jar.
 *
 * @param type its media type
 * @param tag its ETag, which changes with the content
 */
record ExampleFile(String type, String tag, Buffer content) {
  private static final Map<String, ExampleFile> BY_NAME =
      Map.of(
          "", read("index.html", "text/html; charset=utf-8"),
          "page.css", read("page.css", "text/css; charset=utf-8"),
          "page.js", read("page.js", "text/javascript; charset=utf-8"),
          "changes-socket.js", read("changes-socket.js", "text/javascript; charset=utf-8"),
          "icon.svg", read("icon.svg", "image/svg+xml"));

  /** Returns null if there is no such file; the name of the page itself is empty. */
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
