package lectus.http.testing;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** A connection on which frames of HTTP/2 are written and read one by one (RFC 9113). */
public final class Http2Connection implements AutoCloseable {
  public static final int DATA = 0;
  public static final int HEADERS = 1;
  public static final int PRIORITY = 2;
  public static final int RST_STREAM = 3;
  public static final int SETTINGS = 4;
  public static final int PING = 6;
  public static final int GOAWAY = 7;
  public static final int WINDOW_UPDATE = 8;

  public static final int CANCEL = 8;
  public static final int REFUSED_STREAM = 7;
  public static final int ENHANCE_YOUR_CALM = 11;

  private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  private static final int END_STREAM = 1;
  private static final int END_HEADERS = 4;
  private static final int HAS_PRIORITY = 0x20;
  private static final int PRIORITY_BYTES = 5;
  private static final int ACKNOWLEDGEMENT = 1;

  private final Connection connection;
  private final DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
  private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false);
  private int lastStream = -1;
  private int lastStatus;

  /** A frame of the server. */
  public record Frame(int type, int flags, int stream, byte[] payload) {
    /** Returns the code of a GOAWAY or RST_STREAM. */
    public int code() {
      ByteBuffer bytes = ByteBuffer.wrap(payload);
      return bytes.getInt(type == GOAWAY ? 4 : 0);
    }

    public boolean endsStream() {
      return (type == DATA || type == HEADERS) && (flags & END_STREAM) != 0;
    }
  }

  /**
   * Begins to speak HTTP/2, as a client that knows that the server does.
   *
   * @param windowBytes how much the server may send on each stream before it is given more leave
   */
  public Http2Connection(Connection connection, int windowBytes) {
    this.connection = connection;
    connection.write(PREFACE);
    byte[] initialWindow = ByteBuffer.allocate(6).putChar((char) 4).putInt(windowBytes).array();
    write(frame(SETTINGS, 0, 0, initialWindow));
  }

  /** Goes on with a connection whose first request was answered 101; it has become stream 1. */
  public static Http2Connection upgraded(Connection connection, int windowBytes) {
    Http2Connection upgraded = new Http2Connection(connection, windowBytes);
    upgraded.lastStream = 1;
    return upgraded;
  }

  public static byte[] frame(int type, int flags, int stream, byte[] payload) {
    return ByteBuffer.allocate(9 + payload.length)
        .putInt(payload.length << 8 | type)
        .put((byte) flags)
        .putInt(stream)
        .put(payload)
        .array();
  }

  public Http2Connection write(byte[] frames) {
    connection.write(frames);
    return this;
  }

  /** Writes the same frame many times. */
  public Http2Connection flood(byte[] frame, int times) {
    ByteArrayOutputStream many = new ByteArrayOutputStream();
    for (int i = 0; i < times; i++) {
      many.writeBytes(frame);
    }
    return write(many.toByteArray());
  }

  /** Sends a request without a body and returns the number of its stream. */
  public int get(String path, String... headers) {
    write(head(path, headers));
    return lastStream;
  }

  /**
   * Returns a request's head in a frame, for the next stream.
   *
   * @param headers names and values; {@code :method} takes GET's place
   */
  public byte[] head(String path, String... headers) {
    Http2Headers head =
        new DefaultHttp2Headers().method("GET").scheme("http").authority("localhost").path(path);
    for (int i = 0; i < headers.length; i += 2) {
      head.set(headers[i], headers[i + 1]);
    }
    lastStream += 2;
    ByteBuf block = Unpooled.buffer();
    try {
      encoder.encodeHeaders(lastStream, head, block);
    } catch (Http2Exception e) {
      throw new IllegalStateException(e);
    }
    return frame(HEADERS, END_HEADERS | END_STREAM, lastStream, ByteBufUtil.getBytes(block));
  }

  public Http2Connection cancel(int stream) {
    return write(reset(stream));
  }

  public static byte[] reset(int stream) {
    return frame(RST_STREAM, 0, stream, ByteBuffer.allocate(4).putInt(CANCEL).array());
  }

  /** Lets the server send more on a stream; 0: on all together. */
  public static byte[] leave(int stream, int bytes) {
    return frame(WINDOW_UPDATE, 0, stream, ByteBuffer.allocate(4).putInt(bytes).array());
  }

  /** Returns the next frame that is not one of the connection's own housekeeping. */
  public Frame next() {
    while (true) {
      Frame frame = read();
      boolean isHousekeeping =
          frame.type() == SETTINGS || frame.type() == WINDOW_UPDATE || frame.type() == PING;
      if (!isHousekeeping) {
        return frame;
      }
    }
  }

  /** Returns the next frame; settings of the server are acknowledged. */
  public Frame read() {
    ByteBuffer head = ByteBuffer.wrap(connection.bytes(9));
    int lengthAndType = head.getInt();
    int flags = head.get();
    Frame frame =
        new Frame(
            lengthAndType & 0xff, flags, head.getInt(), connection.bytes(lengthAndType >>> 8));
    if (frame.type() == SETTINGS && (flags & ACKNOWLEDGEMENT) == 0) {
      write(frame(SETTINGS, ACKNOWLEDGEMENT, 0, new byte[0]));
    }
    if (frame.type() == HEADERS) {
      lastStatus = decoded(frame);
    }
    return frame;
  }

  /** Reads until the server says goodbye, and returns why. */
  public int goodbye() {
    Frame frame = read();
    while (frame.type() != GOAWAY) {
      frame = read();
    }
    return frame.code();
  }

  /** Returns the status of the next frame, which must be a head of this stream. */
  public int status(int stream) {
    Frame frame = next();
    if (frame.type() != HEADERS || frame.stream() != stream) {
      throw new IllegalStateException("Not the head of stream " + stream + ": " + frame);
    }
    return lastStatus;
  }

  /** Returns the status of this stream; what comes on others before it is lost. */
  public int statusAmongOthers(int stream) {
    Frame frame = next();
    while (frame.type() != HEADERS || frame.stream() != stream) {
      frame = next();
    }
    return lastStatus;
  }

  private int decoded(Frame head) {
    try {
      ByteBuf block = Unpooled.wrappedBuffer(head.payload());
      block.skipBytes((head.flags() & HAS_PRIORITY) == 0 ? 0 : PRIORITY_BYTES);
      Http2Headers headers = decoder.decodeHeaders(head.stream(), block);
      return Integer.parseInt(headers.status().toString());
    } catch (Http2Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns the rest of a stream's body; nothing may come on other streams meanwhile. */
  public String body(int stream) {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    Frame frame;
    do {
      frame = next();
      if (frame.type() != DATA || frame.stream() != stream) {
        throw new IllegalStateException("Not the body of stream " + stream + ": " + frame);
      }
      body.writeBytes(frame.payload());
    } while (!frame.endsStream());
    return body.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    connection.close();
  }
}
