package lectus.http.changes;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrameDecoder;
import io.netty.util.ReferenceCountUtil;
import lectus.http.limits.MemoryAccount;

/**
 * Counts the bytes of a WebSocket's client that were not handled yet: incomplete frames in the
 * decoder, frames that wait, and the frames of an unfinished message. For the connection's event
 * loop.
 */
final class UnhandledBytes {
  /** The approximate bytes of a waiting frame beside its payload. */
  private static final int FRAME_OVERHEAD = 256;

  /** From here on a payload's length has bytes of its own. */
  private static final int EXTENDED_LENGTH = 126;

  private final MemoryAccount memory;
  private final Runnable whenRefused;
  private Runnable afterRead;
  private long undecoded;
  private long waiting;
  private long assembling;
  private long reserved;
  private boolean over;

  /**
   * @param whenRefused called when others hold too much; what the client sends from then on is
   *     discarded
   */
  UnhandledBytes(MemoryAccount memory, Runnable whenRefused) {
    this.memory = memory;
    this.whenRefused = whenRefused;
  }

  /**
   * @param afterRead called when something has arrived and was counted
   */
  void watch(ChannelPipeline pipeline, Runnable afterRead) {
    this.afterRead = afterRead;
    String decoder = pipeline.context(WebSocketFrameDecoder.class).name();
    pipeline.addBefore(decoder, null, new Arriving());
    pipeline.addAfter(decoder, null, new Decoded());
  }

  /** Returns the bytes of frames, and of a message, that have begun and are incomplete. */
  long unfinished() {
    return undecoded + assembling;
  }

  /**
   * Notes that a frame of a message was handled.
   *
   * @param payload its bytes
   * @param begun the bytes so far of an unfinished message
   */
  void handled(int payload, int begun) {
    waiting = Math.max(0, waiting - payload - FRAME_OVERHEAD);
    assembling = begun;
    settle();
  }

  private void settle() {
    long held = undecoded + waiting + assembling;
    if (over || held == reserved) {
      return;
    }
    if (held < reserved) {
      memory.release(reserved - held, reserved);
      reserved = held;
    } else if (memory.tryReserve(held - reserved, reserved)) {
      reserved = held;
    } else {
      over = true;
      whenRefused.run();
    }
  }

  /** Releases all that was held for a closed socket. */
  void giveBack() {
    over = true;
    memory.release(reserved, reserved);
    reserved = 0;
  }

  /** Before the decoder. */
  private final class Arriving extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (over) {
        ReferenceCountUtil.release(message);
      } else if (message instanceof ByteBuf bytes) {
        undecoded += bytes.readableBytes();
        context.fireChannelRead(message);
        settle();
        afterRead.run();
      } else {
        context.fireChannelRead(message);
      }
    }
  }

  /** Behind the decoder. */
  private final class Decoded extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof WebSocketFrame frame) {
        int payload = frame.content().readableBytes();
        undecoded = Math.max(0, undecoded - bytesOnWire(payload));
        if (frame instanceof PingWebSocketFrame && !context.channel().isWritable()) {
          // Its client does not read, so answers would pile up.
          ReferenceCountUtil.release(frame);
          return;
        }
        if (frame instanceof TextWebSocketFrame || frame instanceof ContinuationWebSocketFrame) {
          waiting += payload + FRAME_OVERHEAD;
        }
      }
      context.fireChannelRead(message);
    }
  }

  /** RFC 6455, section 5.2: a header, the length if it is larger, the mask, the payload. */
  private static long bytesOnWire(int payload) {
    int length = payload < EXTENDED_LENGTH ? 0 : payload < 1 << 16 ? 2 : 8;
    return 2L + length + 4 + payload;
  }
}
