package lectus.server.connection;

import com.sun.management.UnixOperatingSystemMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.haproxy.HAProxyCommand;
import io.netty.handler.codec.haproxy.HAProxyMessage;
import io.netty.handler.codec.haproxy.HAProxyMessageDecoder;
import io.netty.handler.codec.haproxy.HAProxyProxiedProtocol;
import io.netty.handler.codec.haproxy.HAProxySSLTLV;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import lectus.account.LoggingIn.ClientNetwork;
import lectus.http.AddressRange;
import lectus.http.HttpSettings.ProxySettings;
import lectus.http.IpLiteral;
import lectus.http.exchange.ClientConnection;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;

/** Sees each connection when it is accepted, before its first byte, and admits or refuses it. */
@Sharable
public final class ConnectionGate extends ChannelInboundHandlerAdapter implements Measured {
  private static final long CLOSE_SECONDS = 5;
  private static final int MIN_READ_BYTES = 64;
  private static final int FIRST_READ_BYTES = 2 << 10;
  private static final int MAX_READ_BYTES = 32 << 10;

  private final List<Channel> listening = new CopyOnWriteArrayList<>();
  private final OpenConnections open;
  private final Refusals refusals;
  private final int headSeconds;
  private final boolean encrypted;
  private final List<AddressRange> announcing;
  private final ProxySettings trusted;

  /**
   * @param encrypted whether the servers behind it speak TLS
   * @param announcing where proxies are that announce who their clients are
   * @param trusted proxies that say it of each request
   */
  public ConnectionGate(
      int maxConnections,
      int headSeconds,
      boolean encrypted,
      List<AddressRange> announcing,
      ProxySettings trusted) {
    this.open = new OpenConnections(maxConnections);
    this.refusals = new Refusals(encrypted);
    this.headSeconds = headSeconds;
    this.encrypted = encrypted;
    this.announcing = announcing;
    this.trusted = trusted;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    listening.add(context.channel());
  }

  /** Takes no more connections; those that are open stay so. Thread-safe. */
  public void close() {
    listening.forEach(port -> port.close().awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS));
  }

  @Override
  public void describe(Meters meters) {
    meters.level("lectus_connections", "Open connections.", open::count);
    meters.level("lectus_connections_limit", "The most that may be open.", open::most);
    meters.count("lectus_connections_refused", "Connections that were refused.", open::refused);
    meters.count(
        "lectus_connections_evicted",
        "Idle connections that were closed to make room.",
        open::evicted);
    meters.count(
        "lectus_http2_provoked_resets",
        "Streams that were reset because of what their client sent.",
        open::resets);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object accepted) {
    Channel channel = (Channel) accepted;
    ClientChannel client = new ClientChannel(channel, open, this::isProxy);
    if (open.admit(client)) {
      ClientConnection use = ClientConnection.of(channel);
      use.countIn(open, () -> open.toleratesReset(client));
      channel
          .closeFuture()
          .addListener(
              closed -> {
                open.closed(client);
                use.closed();
              });
      prepare(channel, client);
      context.fireChannelRead(channel);
    } else {
      refusals.refuse(channel, context.channel().eventLoop());
    }
  }

  private void prepare(Channel channel, ClientChannel client) {
    channel.config().setRecvByteBufAllocator(oneRead());
    ChannelPipeline pipeline = channel.pipeline();
    if (isAnnounced(channel)) {
      pipeline.addLast(
          new HAProxyMessageDecoder(AnnouncedClient.MAX_DETAIL_BYTES), new AnnouncedClient(client));
    }
    HeadClock clock = new HeadClock(headSeconds);
    Http2Preface preface = new Http2Preface();
    if (encrypted) {
      pipeline.addLast(new PlainText(), new BehindTls(clock, preface));
    } else {
      pipeline.addLast(clock, preface);
    }
  }

  /** A socket is read once in a turn of the event loop: a read may have hundreds of requests. */
  private static RecvByteBufAllocator oneRead() {
    return new AdaptiveRecvByteBufAllocator(MIN_READ_BYTES, FIRST_READ_BYTES, MAX_READ_BYTES)
        .maxMessagesPerRead(1);
  }

  private boolean isAnnounced(Channel channel) {
    return channel.remoteAddress() instanceof InetSocketAddress remote
        && announces(remote.getAddress());
  }

  private boolean announces(InetAddress address) {
    return announcing.stream().anyMatch(range -> range.contains(address));
  }

  /** A proxy on this machine may be named nowhere. */
  private boolean isProxy(InetAddress address) {
    return address.isLoopbackAddress() || announces(address) || trusted.trusts(address);
  }

  /**
   * Tells a client that begins without TLS on a port that has it, if it looks like one of HTTP.
   * Others are for the TLS handler to refuse. For one connection, in front of that handler; removed
   * after the first byte.
   */
  private static final class PlainText extends ChannelInboundHandlerAdapter {
    private static final byte[] TLS_ONLY =
        LastAnswer.bytes("400 Bad Request", "bad_request", "This port speaks TLS: use https.");

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ByteBuf bytes = (ByteBuf) message;
      byte first = bytes.isReadable() ? bytes.getByte(bytes.readerIndex()) : 0;
      if (first >= 'A' && first <= 'Z') {
        context.pipeline().addAfter(context.name(), null, new RefusedConnection(TLS_ONLY));
      }
      context.fireChannelRead(message);
      context.pipeline().remove(this);
    }
  }

  /**
   * Puts handlers behind the TLS handler, which is only there when a connection has become active:
   * so that they see what clients say and not how it is encrypted.
   */
  private static final class BehindTls extends ChannelInboundHandlerAdapter {
    private final ChannelHandler first;
    private final ChannelHandler second;

    BehindTls(ChannelHandler first, ChannelHandler second) {
      this.first = first;
      this.second = second;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
      ChannelHandlerContext tls = context.pipeline().context(SslHandler.class);
      if (tls != null) { // else the server has just stopped
        context.pipeline().addAfter(tls.name(), null, second);
        context.pipeline().addAfter(tls.name(), null, first);
      }
      context.fireChannelActive();
      context.pipeline().remove(this);
    }
  }

  /**
   * Answers the first request of a connection for which there is no room. Only a few are answered
   * at a time; the others are closed at once, because a refusal must cost next to nothing.
   */
  private static final class Refusals {
    private static final int MAX_AT_ONCE = 512;

    private static final byte[] TOO_MANY =
        LastAnswer.bytes(
            "503 Service Unavailable\r\nRetry-After: 1",
            "service_unavailable",
            "Too many connections are open.");

    private final byte[] answer;
    private final AtomicInteger telling = new AtomicInteger();

    /**
     * @param encrypted whether clients speak TLS; a handshake for a refusal would cost too much
     */
    Refusals(boolean encrypted) {
      this.answer = encrypted ? LastAnswer.TLS_ALERT.clone() : TOO_MANY;
    }

    /**
     * @param loop that serves it
     */
    void refuse(Channel channel, EventLoop loop) {
      if (telling.incrementAndGet() > MAX_AT_ONCE) {
        telling.decrementAndGet();
        channel.unsafe().closeForcibly();
        return;
      }
      channel.closeFuture().addListener(closed -> telling.decrementAndGet());
      channel.pipeline().addLast(new RefusedConnection(answer));
      loop.register(channel)
          .addListener(
              registered -> {
                if (!registered.isSuccess()) {
                  channel.unsafe().closeForcibly();
                }
              });
    }
  }

  /**
   * Takes a proxy's word for who its client is. Behind the decoder of the PROXY protocol, for one
   * connection; removed when the proxy has said it. A connection of the proxy's own, which it opens
   * to see whether the server lives, keeps the proxy's address.
   */
  private static final class AnnouncedClient extends SimpleChannelInboundHandler<HAProxyMessage> {
    /** The most bytes of what may follow the addresses; certificates of clients are not wanted. */
    static final int MAX_DETAIL_BYTES = 4 << 10;

    private final ClientChannel client;

    AnnouncedClient(ClientChannel client) {
      this.client = client;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, HAProxyMessage announced) {
      boolean isOfClient =
          announced.command() == HAProxyCommand.PROXY
              && (announced.proxiedProtocol() == HAProxyProxiedProtocol.TCP4
                  || announced.proxiedProtocol() == HAProxyProxiedProtocol.TCP6);
      if (isOfClient) {
        IpLiteral.parse(announced.sourceAddress())
            .ifPresent(address -> announce(context, address, isSecure(announced)));
      }
      context.pipeline().remove(this);
    }

    private void announce(ChannelHandlerContext context, InetAddress address, boolean isSecure) {
      ClientConnection.of(context.channel()).announce(address, isSecure);
      if (!client.isAdmittedFrom(address)) {
        context.close();
      }
    }

    private static boolean isSecure(HAProxyMessage announced) {
      return announced.tlvs().stream()
          .anyMatch(detail -> detail instanceof HAProxySSLTLV tls && tls.isPP2ClientSSL());
    }

    /** It is not understood, or there is none. */
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }

  /**
   * Answers whatever a client says with the same bytes, once, and ends its connection. Reads on
   * after the answer: closing at once would take the answer away from the client again.
   */
  private static final class RefusedConnection extends ChannelInboundHandlerAdapter {
    private static final long PATIENCE_SECONDS = 2;

    private static final ByteBuf END_OF_HEAD =
        Unpooled.unreleasableBuffer(
            Unpooled.copiedBuffer("\r\n\r\n", StandardCharsets.US_ASCII).asReadOnly());

    private static final ChannelFutureListener END_OUTPUT =
        sent -> ((DuplexChannel) sent.channel()).shutdownOutput();

    private final byte[] answer;
    private boolean told;

    RefusedConnection(byte[] answer) {
      this.answer = answer;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
      context.executor().schedule(() -> context.close(), PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object bytes) {
      boolean isWhole = endsHead(bytes);
      ReferenceCountUtil.release(bytes);
      if (!told) {
        told = true;
        ChannelFutureListener close = sent -> context.close();
        context
            .writeAndFlush(Unpooled.wrappedBuffer(answer))
            .addListener(isWhole ? close : END_OUTPUT);
      }
    }

    /** A request without a body is complete: nothing follows that would reset the connection. */
    private static boolean endsHead(Object read) {
      ByteBuf bytes = (ByteBuf) read;
      int tail = bytes.writerIndex() - END_OF_HEAD.readableBytes();
      return tail >= bytes.readerIndex()
          && ByteBufUtil.equals(bytes, tail, END_OF_HEAD, 0, END_OF_HEAD.readableBytes());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }

  /** An answer to a request that was not read; the connection closes after it. */
  static final class LastAnswer {
    /** A fatal alert, internal_error (RFC 8446, section 6), in a record of TLS. */
    private static final byte[] TLS_ALERT = {21, 3, 3, 0, 2, 2, 80};

    private LastAnswer() {}

    /**
     * @param status with its phrase, followed by additional header fields if there are any
     * @param reason plain ASCII without quotes
     */
    static byte[] bytes(String status, String error, String reason) {
      String body = "{\"error\":\"" + error + "\",\"reason\":\"" + reason + "\"}\n";
      String head =
          ("HTTP/1.1 %s\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length:"
                  + " %s\r\n\r\n")
              .formatted(status, body.length());
      return (head + body).getBytes(StandardCharsets.US_ASCII);
    }
  }

  /** A client's connection as a Netty channel. */
  static final class ClientChannel implements OpenConnections.Connection {
    /** A timer, however short, fires after the event loop has polled its sockets once more. */
    private static final long ONE_MORE_LOOK_MILLIS = 1;

    private final Channel channel;
    private final ClientConnection use;
    private final OpenConnections open;
    private final Predicate<InetAddress> isProxy;
    private final String network;
    private Object culprit = this;

    /**
     * @param isProxy whether the clients of a proxy may have the address in common
     */
    ClientChannel(Channel channel, OpenConnections open, Predicate<InetAddress> isProxy) {
      this.channel = channel;
      this.use = ClientConnection.of(channel);
      this.open = open;
      this.isProxy = isProxy;
      if (channel.remoteAddress() instanceof InetSocketAddress internet) {
        this.network = networkOf(internet.getAddress());
        comesFrom(internet.getAddress());
      } else {
        this.network = "";
      }
    }

    private static String networkOf(InetAddress address) {
      return ClientNetwork.of(address.getHostAddress());
    }

    private void comesFrom(InetAddress address) {
      culprit = isProxy.test(address) ? this : networkOf(address);
    }

    /** Notes who a proxy says its client is; returns whether that one may connect. */
    boolean isAdmittedFrom(InetAddress announced) {
      comesFrom(announced);
      return !open.refuses(this);
    }

    @Override
    public String network() {
      return network;
    }

    @Override
    public Object culprit() {
      return culprit;
    }

    /** A connection is also in use while its client has not read an answer yet. */
    @Override
    public boolean isIdle() {
      ChannelOutboundBuffer unsent = channel.unsafe().outboundBuffer();
      return use.isIdle() && (unsent == null || unsent.totalPendingWriteBytes() == 0);
    }

    @Override
    public long idleSinceNanos() {
      return use.idleSinceNanos();
    }

    @Override
    public boolean hasBeenUsed() {
      return use.requestsBegun() > 0;
    }

    /** On a busy loop a request may have arrived that was not read yet. It is read first. */
    @Override
    public void evict() {
      try {
        channel
            .eventLoop()
            .schedule(this::closeIfIdle, ONE_MORE_LOOK_MILLIS, TimeUnit.MILLISECONDS);
      } catch (RejectedExecutionException stopped) {
        channel.close();
      }
    }

    private void closeIfIdle() {
      if (isIdle()) {
        // Not through the handlers: one that lingers after a last answer keeps the connection open.
        channel.pipeline().firstContext().close();
      } else if (channel.isOpen()) {
        open.spared(this);
      }
    }
  }

  /**
   * Closes a connection whose client begins a request and does not finish its head, or connects and
   * sends nothing. Between two requests the connection may be idle. For one connection, in front of
   * everything that reads.
   */
  static final class HeadClock extends ChannelInboundHandlerAdapter {
    private final long patienceNanos;
    private ClientConnection use;

    /**
     * Whether a head is due: the first one from the connection's start, others from their first
     * byte on.
     */
    private boolean awaiting = true;

    private long sinceNanos = System.nanoTime();
    private long requestsBefore;
    private boolean bytesCame;
    private Future<?> nextLook;

    HeadClock(int seconds) {
      this.patienceNanos = TimeUnit.SECONDS.toNanos(seconds);
    }

    @Override
    public void channelActive(ChannelHandlerContext context) throws Exception {
      use = ClientConnection.of(context.channel());
      lookIn(context, patienceNanos);
      super.channelActive(context);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object bytes) throws Exception {
      restIfRequested();
      if (!awaiting && use.isIdle() && use.isReadToEnd() && !use.isMultiplexed()) {
        awaiting = true;
        sinceNanos = System.nanoTime();
      }
      bytesCame = true;
      super.channelRead(context, bytes);
      restIfRequested();
    }

    /** A request that has begun may have been answered by now. */
    private void restIfRequested() {
      if (use.requestsBegun() != requestsBefore) {
        requestsBefore = use.requestsBegun();
        awaiting = false;
      }
    }

    private void lookIn(ChannelHandlerContext context, long nanos) {
      nextLook = context.executor().schedule(() -> look(context), nanos, TimeUnit.NANOSECONDS);
    }

    /** A pending timer would keep the connection in memory until it fires. */
    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
      if (nextLook != null) {
        nextLook.cancel(false);
      }
      super.channelInactive(context);
    }

    private void look(ChannelHandlerContext context) {
      if (!context.channel().isActive()) {
        return;
      }
      restIfRequested();
      long left = awaiting ? sinceNanos + patienceNanos - System.nanoTime() : patienceNanos;
      if (left > 0) {
        lookIn(context, left);
      } else if (bytesCame && !speaksHttp2(context)) {
        context.writeAndFlush(tooSlow()).addListener(ChannelFutureListener.CLOSE);
      } else {
        context.close();
      }
    }

    private static boolean speaksHttp2(ChannelHandlerContext context) {
      return context.pipeline().get(Http2ConnectionHandler.class) != null;
    }

    private static ByteBuf tooSlow() {
      return Unpooled.wrappedBuffer(
          LastAnswer.bytes(
              "408 Request Timeout",
              "request_timeout",
              "The request's head did not come in time."));
    }
  }

  /** The number of connections that a server can bear beside its store. */
  public static final class ConnectionLimit {
    /** The other half is for the store, which cannot do without them. */
    private static final int DESCRIPTORS_TO_CONNECTIONS = 2;

    private static final int LEAST = 64;

    private ConnectionLimit() {}

    /**
     * @param wanted the chosen number, or the number that there is memory for
     * @param descriptors that the process may have open at a time
     */
    public static int of(int wanted, long descriptors) {
      long most = Math.max(LEAST, descriptors / DESCRIPTORS_TO_CONNECTIONS);
      return (int) Math.min(wanted, most);
    }

    /**
     * Returns how many file descriptors this process may have open; a very large number if unknown.
     */
    public static long descriptors() {
      return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
          ? unix.getMaxFileDescriptorCount()
          : Long.MAX_VALUE;
    }
  }
}
