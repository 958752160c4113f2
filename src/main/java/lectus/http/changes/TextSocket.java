package lectus.http.changes;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CorruptedWebSocketFrameException;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.http.WebSocketFrame;
import io.vertx.core.http.WebSocketFrameType;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import lectus.http.HttpSettings.WebSocketSettings;
import lectus.http.limits.IdleClock;
import lectus.http.limits.MemoryAccount;
import lectus.http.limits.VertxInternals;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's WebSocket for text messages in both directions. It handles frames, pings and close
 * codes; its listener handles the messages. Everything happens on the connection's event loop.
 *
 * <p>Back-pressure: while the client does not read, nothing is read from it either, so that answers
 * to its messages cannot pile up.
 */
public final class TextSocket {
  private static final Logger LOG = LoggerFactory.getLogger(TextSocket.class);

  /** Bytes that may wait in memory for a client before nothing more is read from it. */
  private static final int WRITE_QUEUE_BYTES = 64 << 10;

  private static final int MESSAGES_GATHERED = 256;

  /** The longest reason in a close frame, in bytes (RFC 6455, section 5.5). */
  private static final int LONGEST_REASON = 123;

  /** How long a client may take to answer the close frame, in milliseconds. */
  private static final long GOODBYE_MILLIS = 10_000;

  /** The same for a refused client, whose bytes are discarded meanwhile. */
  private static final long REFUSED_MILLIS = 2_000;

  private static final Pattern UNPRINTABLE = Pattern.compile("[^ -~]");
  private static final Buffer NO_PAYLOAD = Buffer.buffer(0);

  /** The reasons for which the server closes a WebSocket (RFC 6455, section 7.4.1). */
  public enum CloseCode {
    /** The conversation is over. */
    NORMAL(1000),
    /** The server stops, or the client is silent; the client may reconnect. */
    GOING_AWAY(1001),
    /** The client sent invalid frames. */
    PROTOCOL_ERROR(1002),
    /** The client sent an unsupported kind of message. */
    UNSUPPORTED_DATA(1003),
    /** A text message is not UTF-8. */
    INVALID_TEXT(1007),
    /**
     * The client sent data to a socket that accepts no messages, or does not finish its message.
     */
    POLICY_VIOLATION(1008),
    /** A message is longer than the limit. */
    TOO_BIG(1009),
    /** A defect of the server. */
    INTERNAL_ERROR(1011),
    /**
     * The server or its store is too busy, or the store does not answer; the client may reconnect
     * later.
     */
    TRY_AGAIN_LATER(1013);

    private final short number;

    CloseCode(int number) {
      this.number = (short) number;
    }

    public short number() {
      return number;
    }
  }

  /** Handles a client's messages. */
  public interface Listener {
    /**
     * @param utf8 a whole message
     */
    void received(byte[] utf8);

    /** Called when the socket is closed, by either side. */
    void closed();
  }

  private final ServerWebSocket socket;
  private final WebSocketSettings settings;
  private final Vertx vertx;
  private final List<Runnable> waiting = new ArrayList<>();
  private final Runnable givenUp;
  private final Traffic traffic;
  private final UnhandledBytes unhandled;
  private final IdleClock clock;
  private final IdleClock.Timer pings;

  /** The frames so far of an unfinished message; null if there are none. */
  private Buffer begun;

  /** Runs while a message is incomplete; null otherwise. */
  private IdleClock.Timer deadline;

  private Listener listener;
  private boolean listening = true;
  private boolean reading = true;
  private boolean closing;

  /** The timer's id; -1, which no timer has, before the close frame was sent. */
  private long goodbye = -1;

  /**
   * @param clock of the connection's event loop
   * @param messages counts the client's messages until they are handled
   * @param pingMillis the interval of pings
   * @param givenUp told when the socket is closed because nothing moved
   */
  public TextSocket(
      Vertx vertx,
      IdleClock clock,
      ServerWebSocket socket,
      WebSocketSettings settings,
      MemoryAccount messages,
      long pingMillis,
      Runnable givenUp) {
    this.givenUp = givenUp;
    this.vertx = vertx;
    this.socket = socket;
    this.settings = settings;
    this.clock = clock;
    this.traffic = Traffic.byClient(channel().channel());
    this.unhandled = new UnhandledBytes(messages, this::refuse);
    this.pings = clock.start(vertx, pingMillis, this::ping);
  }

  public void start(Listener to) {
    listener = to;
    socket.setWriteQueueMaxSize(WRITE_QUEUE_BYTES);
    channel().pipeline().addBefore(channel().name(), null, ReceivedClose.CHECK);
    unhandled.watch(channel().pipeline(), this::looked);
    gatherWrites();
    tellOfRoom();
    socket.frameHandler(this::received);
    socket.exceptionHandler(this::failed);
    socket.closeHandler(none -> closed());
  }

  /** Messages of one turn of the event loop are flushed together. */
  private void gatherWrites() {
    channel().pipeline().addFirst(new FlushConsolidationHandler(MESSAGES_GATHERED, true));
  }

  /** Replaces Vert.x's drain handler, which counts waiting messages, whatever their size. */
  private void tellOfRoom() {
    channel()
        .pipeline()
        .addFirst(
            new ChannelInboundHandlerAdapter() {
              @Override
              public void channelWritabilityChanged(ChannelHandlerContext context) {
                context.fireChannelWritabilityChanged();
                if (!isFull()) {
                  // Runs later, so that a sender on the stack finishes first.
                  context.executor().execute(TextSocket.this::drained);
                }
              }
            });
  }

  private ChannelHandlerContext channel() {
    return VertxInternals.handler(socket);
  }

  private void received(WebSocketFrame frame) {
    if (!closing) {
      take(frame);
    }
    if (frame.type() == WebSocketFrameType.TEXT
        || frame.type() == WebSocketFrameType.CONTINUATION) {
      unhandled.handled(frame.binaryData().length(), begun == null ? 0 : begun.length());
      looked();
    }
  }

  private void take(WebSocketFrame frame) {
    switch (frame.type()) {
      case TEXT, CONTINUATION -> assemble(frame);
      case BINARY -> close(CloseCode.UNSUPPORTED_DATA, "Messages must be text.");
      default -> {}
    }
  }

  /** Handles the message that the frame, of text or a continuation, completes. */
  private void assemble(WebSocketFrame frame) {
    Buffer part = frame.binaryData();
    if (part.length() + (begun == null ? 0L : begun.length()) > settings.maxMessageBytes()) {
      close(CloseCode.TOO_BIG, tooBig());
      return;
    }
    Buffer message = begun == null ? part : begun.appendBuffer(part);
    if (frame.isFinal()) {
      begun = null;
      stopDeadline();
      message(message);
    } else {
      begun = begun == null ? Buffer.buffer().appendBuffer(part) : begun;
    }
  }

  private String tooBig() {
    return "A message may have " + settings.maxMessageBytes() + " bytes.";
  }

  private void message(Buffer message) {
    byte[] utf8 = message.getBytes();
    if (!isUtf8(utf8)) {
      close(CloseCode.INVALID_TEXT, "A message is not UTF-8.");
      return;
    }
    try {
      listener.received(utf8);
    } catch (RuntimeException | Error e) {
      LOG.error("A message of a WebSocket could not be handled", e);
      close(CloseCode.INTERNAL_ERROR, "The server failed; its log says why.");
    }
    pauseOrResume();
  }

  /** Resumes or pauses messages; while paused, they wait on the client's side. */
  public void listen(boolean whether) {
    listening = whether;
    pauseOrResume();
  }

  private void pauseOrResume() {
    reading = listening && !isFull();
    if (reading) {
      socket.resume();
    } else {
      socket.pause();
    }
    looked();
  }

  /** Tells the client while it still listens; discards what it goes on sending. */
  private void refuse() {
    close(CloseCode.TRY_AGAIN_LATER, "Too many messages wait to be handled; come back later.");
    vertx.setTimer(REFUSED_MILLIS, id -> cut());
  }

  /** While nothing is read from the client, its message cannot arrive. */
  private void looked() {
    if (closing || !reading || unhandled.unfinished() == 0) {
      stopDeadline();
    } else if (deadline == null) {
      long millis = TimeUnit.SECONDS.toMillis(settings.messageSeconds());
      deadline = clock.start(vertx, millis, this::messageIsLate);
    }
  }

  private void stopDeadline() {
    if (deadline != null) {
      deadline.stop();
      deadline = null;
    }
  }

  private void messageIsLate() {
    if (reading && !isFull()) {
      close(
          CloseCode.POLICY_VIOLATION,
          "A message has to come as a whole within " + settings.messageSeconds() + " seconds.");
    }
  }

  private static boolean isUtf8(byte[] bytes) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }

  /** The decoder finds invalid frames and frames that are too long. */
  private void failed(Throwable failure) {
    if (failure instanceof CorruptedWebSocketFrameException broken) {
      boolean tooBig = broken.closeStatus().code() == CloseCode.TOO_BIG.number();
      close(
          tooBig ? CloseCode.TOO_BIG : CloseCode.PROTOCOL_ERROR,
          tooBig ? tooBig() : "What came is no WebSocket frame.");
    }
  }

  private void ping() {
    if (!listening) {
      // The client may be sending: it is not its fault that nothing is read.
      traffic.moved();
    }
    long stillSeconds = traffic.stillSeconds();
    if (stillSeconds >= settings.idleTimeoutSeconds()) {
      givenUp.run();
      close(CloseCode.GOING_AWAY, "Nothing moved for " + stillSeconds + " seconds.");
    } else if (!isFull()) {
      write(WebSocketFrame.pingFrame(NO_PAYLOAD));
    }
  }

  /**
   * Sends a message; it waits in memory if the client is slow.
   *
   * @param utf8 must not be changed any more
   * @return completes when the operating system has taken it, or never will
   */
  public Future<Void> send(byte[] utf8) {
    return closing ? Future.succeededFuture() : write(VertxInternals.text(utf8));
  }

  private Future<Void> write(WebSocketFrame frame) {
    return socket.isClosed() ? Future.succeededFuture() : socket.writeFrame(frame);
  }

  public boolean isFull() {
    return !socket.isClosed() && !channel().channel().isWritable();
  }

  /** Runs {@code next} once, when the client has read enough. */
  public void whenDrained(Runnable next) {
    waiting.add(next);
  }

  private void drained() {
    pauseOrResume();
    List<Runnable> now = new ArrayList<>(waiting);
    waiting.clear();
    now.forEach(Runnable::run);
  }

  public void afterMillis(long millis, Runnable task) {
    vertx.setTimer(millis, id -> task.run());
  }

  /** Sends the close frame after everything else; ignores the client's messages from now on. */
  public void close(CloseCode code, String reason) {
    if (closing) {
      return;
    }
    closing = true;
    pings.stop();
    socket.close(code.number(), shortened(reason));
    goodbye = vertx.setTimer(GOODBYE_MILLIS, id -> cut());
  }

  /** Closes the connection: a client that reads nothing will not see the close frame either. */
  private void cut() {
    ChannelHandlerContext first = channel().pipeline().firstContext();
    if (first != null) {
      first.close();
    }
  }

  private static String shortened(String reason) {
    String ascii = UNPRINTABLE.matcher(reason).replaceAll("?");
    return ascii.substring(0, Math.min(LONGEST_REASON, ascii.length()));
  }

  private void closed() {
    closing = true;
    pings.stop();
    stopDeadline();
    unhandled.giveBack();
    vertx.cancelTimer(goodbye);
    waiting.clear();
    listener.closed();
  }

  /**
   * Answers a client's close frame with the same code. A code that must not be sent (RFC 6455,
   * section 7.4) is answered as a protocol error. Netty's decoder detects only some of them.
   */
  @Sharable
  private static final class ReceivedClose extends ChannelInboundHandlerAdapter {
    static final ReceivedClose CHECK = new ReceivedClose();

    private static final int CODE_BYTES = 2;

    // Ends of the ranges of codes that may be sent: RFC 6455, section 7.4, and its registry.
    private static final int NORMAL_CLOSURE = 1000;
    private static final int UNSUPPORTED_DATA = 1003;
    private static final int INVALID_PAYLOAD = 1007;
    private static final int BAD_GATEWAY = 1014;
    private static final int FIRST_OF_LIBRARIES = 3000;
    private static final int LAST_OF_APPLICATIONS = 4999;

    private ReceivedClose() {}

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof CloseWebSocketFrame close && !isAllowed(close.content())) {
        close.release();
        context.fireChannelRead(
            new CloseWebSocketFrame(
                WebSocketCloseStatus.PROTOCOL_ERROR, "No close frame has this code."));
      } else {
        context.fireChannelRead(message);
      }
    }

    /** A close frame may have no code. */
    private static boolean isAllowed(ByteBuf payload) {
      if (payload.readableBytes() < CODE_BYTES) {
        return !payload.isReadable();
      }
      int code = payload.getUnsignedShort(payload.readerIndex());
      boolean isRegistered =
          isBetween(NORMAL_CLOSURE, code, UNSUPPORTED_DATA)
              || isBetween(INVALID_PAYLOAD, code, BAD_GATEWAY);
      boolean isOfLibraryOrApplication = isBetween(FIRST_OF_LIBRARIES, code, LAST_OF_APPLICATIONS);
      return isRegistered || isOfLibraryOrApplication;
    }

    private static boolean isBetween(int first, int code, int last) {
      return first <= code && code <= last;
    }
  }
}
