package lectus.http.api;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameListenerDecorator;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.concurrent.TimeUnit;
import lectus.http.exchange.ClientConnection;

/**
 * Ends an HTTP/2 connection whose client sends frames that ask for nothing and cost time: pings,
 * settings, priorities, and leave to send a few bytes more. Netty bounds others: requests that are
 * given up at once, empty data, headers in many pieces, and the answers that wait.
 *
 * <p>Also counts the streams that the server had to reset because of what the client sent, by
 * client: it can have each of its requests reset ("MadeYouReset") as soon as it is begun, and
 * connect anew when Netty ends its connection for that.
 */
final class ControlFrames extends Http2FrameListenerDecorator {
  /** In a second. A client may ask how it fares a few times for each request. */
  private static final int MAX_SIGNALS = 2_000;

  /** In a second. A client may send one for each row of its feeds, in each of two windows. */
  private static final int MAX_SMALL_UPDATES = 20_000;

  private static final int SMALL_UPDATE_BYTES = 1 << 10;

  private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);

  private long sinceNanos = System.nanoTime();
  private int signals;
  private int smallUpdates;

  private ControlFrames(Http2FrameListener listener) {
    super(listener);
  }

  /** Limits those of a connection. */
  static void limit(Http2ConnectionHandler http2, Channel channel) {
    Http2ConnectionDecoder decoder = http2.decoder();
    decoder.frameListener(new ControlFrames(decoder.frameListener()));
    http2.connection().addListener(countingResets(channel));
  }

  /** When a stream is closed, Netty resets it once more if bytes of its answer still wait. */
  private static Http2Connection.Listener countingResets(Channel channel) {
    ClientConnection use = ClientConnection.of(channel);
    return new Http2ConnectionAdapter() {
      @Override
      public void onStreamClosed(Http2Stream stream) {
        boolean isProvoked = !use.endsUnprovoked(stream.id()) && channel.isActive();
        if (isProvoked && stream.isResetSent() && !use.toleratesReset()) {
          channel.close();
        }
      }
    };
  }

  @Override
  public void onPingRead(ChannelHandlerContext context, long data) throws Http2Exception {
    signal();
    super.onPingRead(context, data);
  }

  @Override
  public void onPingAckRead(ChannelHandlerContext context, long data) throws Http2Exception {
    signal();
    super.onPingAckRead(context, data);
  }

  @Override
  public void onSettingsRead(ChannelHandlerContext context, Http2Settings settings)
      throws Http2Exception {
    signal();
    super.onSettingsRead(context, settings);
  }

  @Override
  public void onPriorityRead(
      ChannelHandlerContext context, int stream, int parent, short weight, boolean exclusive)
      throws Http2Exception {
    signal();
    super.onPriorityRead(context, stream, parent, weight, exclusive);
  }

  @Override
  public void onUnknownFrame(
      ChannelHandlerContext context, byte type, int stream, Http2Flags flags, ByteBuf payload)
      throws Http2Exception {
    signal();
    super.onUnknownFrame(context, type, stream, flags, payload);
  }

  @Override
  public void onRstStreamRead(ChannelHandlerContext context, int stream, long error)
      throws Http2Exception {
    ClientConnection.of(context.channel()).resets(stream);
    super.onRstStreamRead(context, stream, error);
  }

  @Override
  public void onWindowUpdateRead(ChannelHandlerContext context, int stream, int bytes)
      throws Http2Exception {
    if (bytes < SMALL_UPDATE_BYTES) {
      beginWindow();
      smallUpdates++;
      check(smallUpdates, MAX_SMALL_UPDATES);
    }
    super.onWindowUpdateRead(context, stream, bytes);
  }

  private void signal() throws Http2Exception {
    beginWindow();
    signals++;
    check(signals, MAX_SIGNALS);
  }

  private void beginWindow() {
    long now = System.nanoTime();
    if (now - sinceNanos >= WINDOW_NANOS) {
      sinceNanos = now;
      signals = 0;
      smallUpdates = 0;
    }
  }

  private static void check(int frames, int most) throws Http2Exception {
    if (frames > most) {
      throw Http2Exception.connectionError(
          Http2Error.ENHANCE_YOUR_CALM, "There are too many frames that ask for nothing.");
    }
  }
}
