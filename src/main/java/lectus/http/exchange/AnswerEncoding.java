package lectus.http.exchange;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import lectus.attachment.GzipWriter;
import lectus.http.AcceptedEncodings;
import lectus.http.HttpSettings.CompressionSettings;
import lectus.http.Reply;
import lectus.http.limits.ClientMemory.CompressionQuota;

/** How the body of one answer is encoded: as gzip if its client accepts that and it is worth it. */
public final class AnswerEncoding {
  static final String GZIP = "gzip";

  /** The tables of gzip alone take longer than a shorter answer takes on its way. */
  private static final int MIN_BYTES = 1 << 10;

  /** What takes an event loop less than a millisecond. */
  private static final int MAX_BYTES_ON_LOOP = 64 << 10;

  private static final Reply.Header HEADER = new Reply.Header(HttpHeaders.CONTENT_ENCODING, GZIP);

  private final CompressionSettings settings;
  private final CompressionQuota room;
  private final HttpServerRequest request;

  /** Of a streamed answer; empty if its parts are sent as they are. */
  private Optional<GzipStream> stream = Optional.empty();

  private boolean isPlain;
  private boolean over;

  AnswerEncoding(Exchange exchange) {
    this.settings = exchange.settings().compression();
    this.room = exchange.memory().compression();
    this.request = exchange.request();
  }

  /** Whether answers of a type come in one encoding or another. */
  boolean varies(CharSequence contentType) {
    return settings.enabled() && !isPlain && contentType != null && isText(contentType);
  }

  private static boolean isText(CharSequence contentType) {
    String type = contentType.toString().toLowerCase(Locale.ROOT);
    return type.startsWith("application/json") || type.startsWith("text/");
  }

  /** Returns an answer of any length in its encoding. Not for event loops. */
  Reply ofWhole(Reply reply) {
    return gains(reply) ? encoded(reply) : reply;
  }

  /** As {@link #ofWhole}; what takes too long for an event loop is left as it is. */
  Reply ofShort(Reply reply) {
    return gains(reply) && reply.body().length() <= MAX_BYTES_ON_LOOP ? encoded(reply) : reply;
  }

  private boolean gains(Reply reply) {
    return reply.body().length() >= MIN_BYTES
        && isFree(reply.contentType(), reply.headers())
        && isAccepted();
  }

  private boolean isFree(CharSequence contentType, List<Reply.Header> headers) {
    return varies(contentType)
        && headers.stream()
            .noneMatch(
                header -> HttpHeaders.CONTENT_ENCODING.toString().contentEquals(header.name()));
  }

  private boolean isAccepted() {
    return AcceptedEncodings.of(request.headers().getAll(HttpHeaders.ACCEPT_ENCODING)).prefer(GZIP);
  }

  private Reply encoded(Reply reply) {
    return new Reply(reply.status(), reply.contentType(), whole(reply.body()), reply.headers())
        .with(HEADER.name(), HEADER.value());
  }

  private Buffer whole(Buffer content) {
    GzipStream all = new GzipStream(() -> {});
    try {
      return all.last(content);
    } finally {
      all.close();
    }
  }

  /**
   * Begins a streamed answer with its first part.
   *
   * @param more whether others follow
   */
  void begin(StreamedBody body, int firstBytes, boolean more) {
    boolean gains = more || firstBytes >= MIN_BYTES;
    if (gains && body.length().isEmpty() && isFree(body.contentType(), body.headers())) {
      takePlace();
    }
  }

  /**
   * Leaves the answer as it is, as CouchDB leaves feeds: inflating streams of clients wait for some
   * kilobytes before they show a row.
   */
  public void leavePlain() {
    isPlain = true;
  }

  private synchronized void takePlace() {
    if (!over && isAccepted() && room.take()) {
      try {
        stream = Optional.of(new GzipStream(room::leave));
      } finally {
        if (stream.isEmpty()) {
          room.leave();
        }
      }
    }
  }

  /** Returns the headers of the streamed answer that has begun. */
  List<Reply.Header> headers() {
    return stream().isEmpty() ? List.of() : List.of(HEADER);
  }

  Buffer part(Buffer content) {
    return stream().map(it -> it.part(content)).orElse(content);
  }

  /** Encodes the last part; nothing may follow. */
  Buffer last(Buffer content) {
    return stream().map(it -> it.last(content)).orElse(content);
  }

  private synchronized Optional<GzipStream> stream() {
    return stream;
  }

  /** Frees what the answer used: it is sent, or nobody waits for it. */
  synchronized void end() {
    over = true;
    stream.ifPresent(GzipStream::close);
  }

  /**
   * Parts as gzip, in order. One may be encoded on one thread while the client leaves on another.
   */
  private static final class GzipStream {
    private static final int MIN_CAPACITY = 256;

    private final GzipWriter writer;
    private final Runnable leave;
    private Buffer encoded = Buffer.buffer();
    private boolean inUse;
    private boolean closed;
    private boolean freed;

    GzipStream(Runnable leave) {
      this.leave = leave;
      this.writer =
          new GzipWriter(
              CompressionSettings.LEVEL,
              (bytes, from, to) -> encoded.appendBytes(bytes, from, to - from));
    }

    Buffer part(Buffer content) {
      return begin() ? used(content, false) : Buffer.buffer();
    }

    Buffer last(Buffer content) {
      return begin() ? used(content, true) : Buffer.buffer();
    }

    private Buffer used(Buffer content, boolean isLast) {
      try {
        byte[] bytes = content.getBytes();
        encoded = Buffer.buffer(MIN_CAPACITY + bytes.length / 4);
        if (isLast) {
          writer.write(bytes, 0, bytes.length);
          writer.finish();
        } else {
          writer.writeThrough(bytes, 0, bytes.length);
        }
        return encoded;
      } finally {
        encoded = Buffer.buffer();
        done();
      }
    }

    private synchronized boolean begin() {
      inUse = !closed;
      return inUse;
    }

    private synchronized void done() {
      inUse = false;
      freeIfClosed();
    }

    /** As soon as no part is being encoded; at any time, more than once as well. */
    synchronized void close() {
      closed = true;
      freeIfClosed();
    }

    private void freeIfClosed() {
      if (closed && !inUse && !freed) {
        freed = true;
        writer.close();
        leave.run();
      }
    }
  }
}
