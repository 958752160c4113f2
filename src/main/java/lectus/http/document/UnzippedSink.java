package lectus.http.document;

import io.vertx.core.Future;
import java.util.Arrays;
import java.util.zip.DataFormatException;
import lectus.attachment.AttachmentIntake;
import lectus.attachment.GzipReader;
import lectus.error.LectusException;
import lectus.http.exchange.BodySink;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.FlowingBody;
import lectus.http.exchange.Requests;

/**
 * Decompresses a body while it arrives, little at a time. What it is decompressed into may be long,
 * but not both long and many times as long as what was sent.
 *
 * @param <T> what becomes of the body
 */
final class UnzippedSink<T> implements BodySink<T> {
  private static final int AT_ONCE_BYTES = 64 << 10;

  /** JSON is hardly ever compressed to less than a twentieth. */
  static final int MAX_TIMES = 100;

  /** With the window of zlib. */
  private static final int OWN_BYTES = 2 * AT_ONCE_BYTES;

  private final BodySink<T> sink;
  private final long limit;
  private final long mostHeld;
  private final GzipReader gzip = new GzipReader();
  private final byte[] plain = new byte[AT_ONCE_BYTES];
  private long length;
  private long plainLength;
  private boolean hasMore;

  /**
   * @param sink takes the decompressed bytes, and limits them
   * @param limit of the compressed ones
   * @param mostHeld decompressed bytes that may be any number of times as many
   */
  UnzippedSink(BodySink<T> sink, long limit, long mostHeld) {
    this.sink = sink;
    this.limit = limit;
    this.mostHeld = mostHeld;
  }

  /**
   * Reads a body that may be compressed as a whole.
   *
   * @param limit of a compressed one, in bytes
   * @return fails as {@link FlowingBody#read}; {@code bad_content_type} (415); {@code too_large}
   *     (413)
   */
  static <T> Future<T> read(Exchange exchange, long limit, BodySink<T> sink) {
    FlowingBody.requireShort(exchange);
    return FlowingBody.isCompressed(exchange)
        .compose(
            isGzip ->
                FlowingBody.read(
                    exchange,
                    AttachmentIntake.MIN_BYTES_COMPRESSED,
                    isGzip
                        ? new UnzippedSink<>(sink, limit, FlowingBody.mostBytes(exchange))
                        : sink));
  }

  @Override
  public void take(byte[] bytes) {
    length += bytes.length;
    if (length > limit) {
      throw Requests.tooLarge(limit);
    }
    if (bytes.length > 0) {
      gzip.take(bytes, 0, bytes.length);
    }
    int read = read();
    hasMore = read == AT_ONCE_BYTES;
    plainLength += read;
    long most = Math.max(mostHeld, MAX_TIMES * length);
    if (plainLength > most) {
      throw Requests.tooLarge(most);
    }
    if (read > 0) {
      sink.take(Arrays.copyOf(plain, read));
    }
  }

  private int read() {
    try {
      int all = 0;
      int read = gzip.read(plain, 0);
      while (read > 0) {
        all += read;
        read = all < AT_ONCE_BYTES ? gzip.read(plain, all) : 0;
      }
      return all;
    } catch (DataFormatException none) {
      throw notGzip();
    }
  }

  @Override
  public boolean hasMore() {
    return hasMore;
  }

  private static LectusException notGzip() {
    return LectusException.badRequest("The body is not gzip.");
  }

  @Override
  public Held held() {
    return sink.held();
  }

  @Override
  public long ownBytes() {
    return sink.ownBytes() + OWN_BYTES;
  }

  @Override
  public void relieve() {
    sink.relieve();
  }

  @Override
  public T end() {
    if (!gzip.isReadable()) {
      throw notGzip();
    }
    T whole = sink.end();
    gzip.close();
    return whole;
  }

  @Override
  public void abandon() {
    gzip.close();
    sink.abandon();
  }
}
