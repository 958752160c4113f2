package lectus.script;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/** Lines of limited length, as they come out of a pipe. One thread reads them. */
final class Lines {
  private final InputStream in;
  private final int longest;
  private final byte[] buffer = new byte[1 << 16];
  private int from;
  private int to;

  /**
   * @param longest bytes of a line
   */
  Lines(InputStream in, int longest) {
    this.in = in;
    this.longest = longest;
  }

  /**
   * Returns the next line without its end; empty at the end of the input, whole lines or not.
   *
   * @throws IOException the line is too long, or cannot be read
   */
  Optional<byte[]> next() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    while (true) {
      int end = from;
      while (end < to && buffer[end] != '\n') {
        end++;
      }
      line.write(buffer, from, end - from);
      if (line.size() > longest) {
        throw new IOException("A line is too long.");
      }
      from = end + 1;
      if (end < to) {
        return Optional.of(line.toByteArray());
      }
      from = 0;
      to = Math.max(0, in.read(buffer));
      if (to == 0) {
        return Optional.empty();
      }
    }
  }
}
