package lectus.http.socket;

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
import lectus.http.memory.MemoryAccount;

/**
 * Counts what a WebSocket's client has said and nobody has handled: frames that have not come as a
 * whole, which the decoder keeps, frames that wait, and the frames of a message that has more. For
 * the connection's event loop.
 */
final class UnhandledBytes {
  /** What a frame that waits takes beside its payload, about. */
  private static final int FRAME_OVERHEAD = 256;

  private final MemoryAccount memory;
  private final Runnable whenRefused;
  private Runnable afterRead;
  private long undecoded;
  private long waiting;
  private long assembling;
  private long reserved;
  private boolean over;

  /**
   * @param whenRefused others hold too much: what the client says from now on is thrown away
   */
  UnhandledBytes(MemoryAccount memory, Runnable whenRefused) {
    this.memory = memory;
    this.whenRefused = whenRefused;
  }

  /**
   * @param afterRead called when something has come and was counted
   */
  void watch(ChannelPipeline pipeline, Runnable afterRead) {
    this.afterRead = afterRead;
    String decoder = pipeline.context(WebSocketFrameDecoder.class).name();
    pipeline.addBefore(decoder, null, new Arriving());
    pipeline.addAfter(decoder, null, new Decoded());
  }

  /** Bytes of frames, and of a message, that have begun and have not come as a whole. */
  long unfinished() {
    return undecoded + assembling;
  }

  /**
   * A frame of a message was taken.
   *
   * @param payload its bytes
   * @param begun what there is now of a message that has more frames
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

  /** The socket is gone, and all that was held for it. */
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
          // Its client does not even read, and answers would pile up.
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

  /** RFC 6455, section 5.2: a head, the length if it is larger, the mask, the payload. */
  private static long bytesOnWire(int payload) {
    int length = payload < 126 ? 0 : payload < 1 << 16 ? 2 : 8;
    return 2L + length + 4 + payload;
  }
}
