package lectus.http.api;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import lectus.http.exchange.ClientConnection;

/**
 * Where the requests of an HTTP/1 connection end, and which answer is its last one (RFC 9112,
 * sections 6 and 9.6). Netty's parser and a proxy in front must agree on the ends, or a client
 * could smuggle a request behind another (section 11.2).
 *
 * <p>An answer says {@code Connection: close} if its request is not well framed, if the announced
 * body has not come by then, or if the server stops and no other request has begun. Nothing that
 * follows such a request is looked at. After the answer the server ends its own direction and reads
 * on for a while: a connection that is closed with unread bytes is reset, and the reset may take
 * the answer away from the client.
 *
 * <p>For one connection, between the parser and Vert.x.
 */
final class RequestFraming extends ChannelDuplexHandler {
  /** Vert.x's name for the HTTP/1 decoder. */
  private static final String DECODER = "httpDecoder";

  /** Parts of a small request that came in one piece, its head included. */
  private static final int MAX_HELD = 8;

  /** How long a client may send nothing behind the last answer before the connection is closed. */
  private static final long SILENT_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** How long it may go on sending. */
  private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** The same when the server stops. */
  private static final long STOP_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final IllegalArgumentException UNCLEAR =
      new IllegalArgumentException("The end of the request is not clear.");

  private final UnhurriedClose stop;
  private final Deque<Object> held = new ArrayDeque<>(MAX_HELD);
  private ChannelHandlerContext context;

  /** Requests whose head has come. */
  private long begun;

  /** Those of them that have come as a whole. */
  private long arrived;

  private long answered;

  /** Whether what comes from now on is no request. */
  private boolean isDeaf;

  /** Whether the answer that is being written is the last one. */
  private boolean isLast;

  /** Whether the last answer was sent, and when, by {@link System#nanoTime}. */
  private boolean isLingering;

  private long lastSentNanos;
  private boolean cameMore;
  private Future<?> nextLook;

  private RequestFraming(UnhurriedClose stop) {
    this.stop = stop;
  }

  /** Watches over a connection that does not speak HTTP/2, if it speaks HTTP/1. */
  static void watch(ChannelHandlerContext vertx, UnhurriedClose stop) {
    if (vertx.pipeline().get(DECODER) != null) {
      RequestFraming framing = new RequestFraming(stop);
      vertx.pipeline().addBefore(vertx.name(), null, framing);
      stop.await(framing, vertx.channel());
    }
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    context = added;
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext removed) {
    held.forEach(ReferenceCountUtil::release);
    held.clear();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (isDeaf || (message instanceof HttpRequest && isBeyondStop())) {
      isDeaf = true;
      cameMore = true;
      ReferenceCountUtil.release(message);
    } else if (message instanceof HttpRequest request) {
      begin(request);
    } else if (message instanceof HttpContent content) {
      goOn(content);
    } else {
      context.fireChannelRead(message);
    }
  }

  /**
   * When the server stops, requests that have begun are answered, and none is begun behind them.
   */
  private boolean isBeyondStop() {
    return stop.hasBegun() && begun > answered;
  }

  private void begin(HttpRequest request) {
    begun++;
    boolean isClear = isClear(request);
    if (!isKnown(request.protocolVersion())) {
      request.setProtocolVersion(HttpVersion.HTTP_1_1);
    }
    if (request.decoderResult().isSuccess() && !isClear) {
      request.setDecoderResult(DecoderResult.failure(UNCLEAR));
    }
    if (request.decoderResult().isFailure()) {
      isDeaf = true;
      context.fireChannelRead(request);
    } else if (hasBody(request)) {
      held.add(request);
    } else {
      arrived++;
      context.fireChannelRead(request);
    }
  }

  /**
   * A request whose body came together with its head is handed on when all of it is here: whoever
   * answers it without reading the body need not close the connection.
   */
  private void goOn(HttpContent content) {
    boolean isEnd = content instanceof LastHttpContent && content.decoderResult().isSuccess();
    if (isEnd && arrived < begun) {
      arrived++;
    }
    if (held.isEmpty()) {
      context.fireChannelRead(content);
      return;
    }
    held.add(content);
    if (isEnd || held.size() == MAX_HELD || content.decoderResult().isFailure()) {
      handOn();
    }
  }

  private void handOn() {
    for (Object part = held.poll(); part != null; part = held.poll()) {
      context.fireChannelRead(part);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    handOn();
    ClientConnection.of(context.channel()).endTurn();
    context.fireChannelReadComplete();
    if (isLingering) {
      context.channel().config().setAutoRead(true);
    }
  }

  private static boolean hasBody(HttpRequest request) {
    HttpHeaders headers = request.headers();
    String length = headers.get(HttpHeaderNames.CONTENT_LENGTH);
    return headers.contains(HttpHeaderNames.TRANSFER_ENCODING)
        || (length != null && !length.equals("0"));
  }

  /**
   * Whether the body ends with the last chunk, or where Content-Length says, or there is none.
   * Netty takes eight bytes behind a request for the draft of WebSockets from 2010.
   */
  private static boolean isClear(HttpRequest request) {
    HttpHeaders headers = request.headers();
    return isKnown(request.protocolVersion())
        && !headers.contains("")
        && !headers.contains(HttpHeaderNames.SEC_WEBSOCKET_KEY1)
        && (!headers.contains(HttpHeaderNames.TRANSFER_ENCODING) || isChunked(request));
  }

  /** No other coding is known, and HTTP/1.0 knows none (RFC 9112, sections 6.1 and 6.3). */
  private static boolean isChunked(HttpRequest request) {
    List<String> codings = request.headers().getAll(HttpHeaderNames.TRANSFER_ENCODING);
    return request.protocolVersion() == HttpVersion.HTTP_1_1
        && codings.size() == 1
        && HttpHeaderValues.CHUNKED.contentEqualsIgnoreCase(codings.get(0))
        && !request.headers().contains(HttpHeaderNames.CONTENT_LENGTH);
  }

  /** Vert.x compares by identity, so a version that is only equal is not known. */
  private static boolean isKnown(HttpVersion version) {
    return version == HttpVersion.HTTP_1_1 || version == HttpVersion.HTTP_1_0;
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    if (message instanceof HttpResponse response) {
      if (response.status().codeClass() == HttpStatusClass.INFORMATIONAL) {
        context.write(message, promise);
        endIfUpgraded(response);
        return;
      }
      beginAnswer(response.headers());
    }
    if (message instanceof LastHttpContent) {
      answered++;
      if (isLast || (isDeaf && answered == begun)) {
        isDeaf = true;
        context.write(message, promise.unvoid()).addListener(sent -> linger(sent.isSuccess()));
        return;
      }
    }
    context.write(message, promise);
  }

  private void endIfUpgraded(HttpResponse response) {
    if (response.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
      stop.forget(this);
      context.pipeline().remove(this);
    }
  }

  private void beginAnswer(HttpHeaders headers) {
    boolean isOfLastRequest = begun == answered + 1;
    if (arrived <= answered || (stop.hasBegun() && isOfLastRequest)) {
      headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    }
    isLast = headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE, true);
  }

  private void linger(boolean isSent) {
    if (isSent && context.channel().isActive()) {
      isLingering = true;
      lastSentNanos = System.nanoTime();
      context.channel().config().setAutoRead(true);
      endOutput(context.channel());
      lookIn(stop.hasBegun() ? STOP_NANOS : SILENT_NANOS);
    }
  }

  private void endOutput(Channel channel) {
    SslHandler tls = context.pipeline().get(SslHandler.class);
    if (tls != null) {
      tls.closeOutbound();
    } else if (channel instanceof DuplexChannel socket) {
      socket.shutdownOutput();
    }
  }

  private void lookIn(long nanos) {
    cameMore = false;
    nextLook = context.executor().schedule(this::look, nanos, TimeUnit.NANOSECONDS);
  }

  private void look() {
    boolean isOver = System.nanoTime() - lastSentNanos >= LINGER_NANOS;
    if (cameMore && !isOver && !stop.hasBegun()) {
      lookIn(SILENT_NANOS);
    } else {
      isLingering = false;
      context.close();
    }
  }

  /** A pending timer would keep the connection in memory until it fires. */
  @Override
  public void channelInactive(ChannelHandlerContext context) {
    if (nextLook != null) {
      nextLook.cancel(false);
    }
    context.fireChannelInactive();
  }

  /** Vert.x closes after the last answer at once. */
  @Override
  public void close(ChannelHandlerContext context, ChannelPromise closed) {
    if (isLingering && context.channel().isActive()) {
      context.channel().closeFuture().addListener(done -> closed.trySuccess());
    } else {
      context.close(closed);
    }
  }

  /** Closes the connection if its client is not about to send another request. */
  void stopUnlessBusy(long busyNanos) {
    if (isLingering) {
      nextLook.cancel(false);
      lookIn(STOP_NANOS);
      return;
    }
    ClientConnection use = ClientConnection.of(context.channel());
    if (begun == answered && use.isIdle() && System.nanoTime() - use.idleSinceNanos() > busyNanos) {
      context.channel().close();
    }
  }
}
