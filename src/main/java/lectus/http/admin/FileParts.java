package lectus.http.admin;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import lectus.document.PagedBody;
import lectus.json.JsonBuffer;

/** A file's bytes. It is open only while a part is read: clients may be slow, or leave. */
final class FileParts implements PagedBody {
  private static final int PART_BYTES = 128 << 10;

  private final ServedFile file;
  private long position;

  FileParts(ServedFile file) {
    this.file = file;
  }

  /** Fails if the file became shorter: the client would wait for the rest. */
  @Override
  public boolean appendNext(JsonBuffer out) {
    ByteBuffer part = ByteBuffer.allocate((int) Math.min(PART_BYTES, file.size() - position));
    try (SeekableByteChannel channel = Files.newByteChannel(file.path())) {
      channel.position(position);
      fill(part, channel);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    out.raw(part.array(), 0, part.position());
    position += part.position();
    return position < file.size();
  }

  private static void fill(ByteBuffer part, SeekableByteChannel channel) throws IOException {
    while (part.hasRemaining()) {
      if (channel.read(part) < 0) {
        throw new EOFException();
      }
    }
  }
}
