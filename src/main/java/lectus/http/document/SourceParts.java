package lectus.http.document;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import lectus.attachment.ByteSource;
import lectus.document.PagedBody;
import lectus.json.JsonBuffer;

/** Bytes of one source after the other, a piece at a time. */
final class SourceParts implements PagedBody {
  /** Enough bytes for a part of the answer: two or three chunks. */
  private static final int PART_BYTES = 128 << 10;

  private final Deque<Supplier<ByteSource>> waiting;
  private ByteSource current = () -> new byte[0];
  private byte[] ahead = new byte[0];

  /**
   * @param sources each opened when those before it are read
   */
  SourceParts(List<Supplier<ByteSource>> sources) {
    this.waiting = new ArrayDeque<>(sources);
  }

  /** Bytes that are known. */
  static Supplier<ByteSource> text(String latin1) {
    return () -> new Once(latin1.getBytes(StandardCharsets.ISO_8859_1));
  }

  @Override
  public boolean appendNext(JsonBuffer out) {
    int enough = out.length() + PART_BYTES;
    out.raw(ahead.length > 0 ? ahead : next());
    ahead = next();
    while (ahead.length > 0 && out.length() < enough) {
      out.raw(ahead);
      ahead = next();
    }
    return ahead.length > 0;
  }

  @Override
  public long keptBytes() {
    return ahead.length;
  }

  /** Returns none at the end of all sources. */
  private byte[] next() {
    byte[] bytes = current.next();
    while (bytes.length == 0 && !waiting.isEmpty()) {
      current = waiting.remove().get();
      bytes = current.next();
    }
    return bytes;
  }

  private static final class Once implements ByteSource {
    private byte[] bytes;

    Once(byte[] bytes) {
      this.bytes = bytes;
    }

    @Override
    public byte[] next() {
      byte[] all = bytes;
      bytes = new byte[0];
      return all;
    }
  }
}
