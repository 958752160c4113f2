package lectus.http.client;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.ClientSSLOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.SocketAddress;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import lectus.error.LectusException;
import lectus.http.IpLiteral;
import lectus.http.client.HttpCall.CallBody;
import lectus.metrics.DaemonThreads;

/**
 * Sends requests to other servers. A name is resolved, each of its addresses is judged, and the
 * connection goes to one of these, whatever the name means a moment later. Redirections are not
 * followed here.
 */
public final class HttpCaller implements AutoCloseable {
  private static final int CONNECT_MILLIS = 10_000;
  private static final int IDLE_SECONDS = 60;
  private static final int MAX_HEADER_BYTES = 32 << 10;

  /** Parts of an answer that wait to be read. */
  private static final int PARTS_AHEAD = 4;

  /** How long an answer is waited for that nobody wants any more, so that a stop is orderly. */
  static final long STOP_MILLIS = 3_000;

  private static final long LOOK_MILLIS = 100;
  private static final int WRITTEN_AT_ONCE = 32 << 10;
  private static final int LOOK_UPS = 32;

  /** The places to which requests are passed on are the administrators' own. */
  private static final int LOOK_UPS_OF_PLACES = 4;

  /** How many requests may wait for changes of one server. */
  private static final int MOST_FEEDS = 10_000;

  /** The operation of the system that has failed, and the address to which. */
  private static final Pattern FRAME =
      Pattern.compile("^[A-Za-z]+\\([^)]*\\) failed[^:]*: |: [^ ]*/[0-9A-Fa-f.:%\\[\\]]+$");

  /** Netty shows behind it what the server has sent. */
  private static final String NO_TLS = "not an SSL/TLS record";

  private final HttpClient client;

  /**
   * Has the connections that wait for changes, or on which requests are passed on, so that these
   * keep none from all else.
   */
  private final HttpClient feeds;

  private final ClientSSLOptions tls;
  private final LookUps hosts;
  private final LookUps places;

  /**
   * @param verifies whether certificates have to be valid, for the host that is asked
   * @param certificates a file in PEM form with those of the issuers; empty: Java's
   * @param connections at a time to one server
   */
  public record ClientSettings(
      AllowedHosts hosts, boolean verifies, Optional<Path> certificates, int connections) {
    /** To wherever a person at a command line wants. */
    public static final ClientSettings OF_COMMANDS =
        new ClientSettings(AllowedHosts.of(List.of(), List.of()), true, Optional.empty(), 100);
  }

  public HttpCaller(Vertx vertx, ClientSettings settings) {
    this.hosts = lookUps(settings.hosts(), LOOK_UPS);
    this.places = lookUps(settings.hosts(), LOOK_UPS_OF_PLACES);
    this.tls =
        new ClientSSLOptions()
            .setTrustAll(!settings.verifies())
            .setHostnameVerificationAlgorithm(settings.verifies() ? "HTTPS" : "");
    settings
        .certificates()
        .ifPresent(file -> tls.setTrustOptions(new PemTrustOptions().addCertPath(file.toString())));
    this.client = client(vertx, settings.connections());
    this.feeds = client(vertx, MOST_FEEDS);
  }

  private static HttpClient client(Vertx vertx, int connections) {
    return vertx
        .httpClientBuilder()
        .with(
            new HttpClientOptions()
                .setConnectTimeout(CONNECT_MILLIS)
                .setTcpKeepAlive(true)
                .setKeepAliveTimeout(IDLE_SECONDS)
                .setMaxHeaderSize(MAX_HEADER_BYTES)
                .setDecompressionSupported(false))
        .with(new PoolOptions().setHttp1MaxSize(connections))
        .build();
  }

  private static LookUps lookUps(AllowedHosts allowed, int threads) {
    return new LookUps(allowed, LookUps::ofSystem, threads, CONNECT_MILLIS);
  }

  /**
   * Sends a request and waits for the head of its answer.
   *
   * @throws IOException no answer came
   * @throws lectus.error.LectusException {@code forbidden}: the server may not be asked
   */
  public HttpAnswer send(HttpCall call) throws IOException {
    List<InetAddress> addresses = get(hosts.of(call.url().getHost()), call);
    IOException refused = new IOException("No address of " + call.url().getHost());
    for (InetAddress address : addresses) {
      Future<HttpClientRequest> connected = begun(client, options(call, address));
      HttpClientRequest request;
      try {
        request = await(connected, call);
      } catch (IOException notConnected) {
        // It would keep a connection that comes later.
        connected.onSuccess(HttpClientRequest::reset);
        refused = notConnected;
        continue;
      }
      return send(call, request);
    }
    throw refused;
  }

  /** What fails is told by the answer, which fails with it. */
  private static Future<HttpClientRequest> begun(HttpClient by, RequestOptions options) {
    return by.request(options).map(request -> request.exceptionHandler(told -> {}));
  }

  private static HttpAnswer send(HttpCall call, HttpClientRequest request) throws IOException {
    CompletableFuture<Incoming> head = new CompletableFuture<>();
    request
        .response()
        .onComplete(
            response -> head.complete(new Incoming(request, response, call)),
            head::completeExceptionally);
    try {
      if (call.body().isEmpty()) {
        request.end();
      } else {
        write(call, request, head);
      }
      Incoming incoming = get(head, call);
      return new HttpAnswer(incoming.status, incoming.response::getHeader, incoming);
    } catch (IOException | RuntimeException | Error failure) {
      request.reset();
      throw failure;
    }
  }

  /** An answer that comes before the body has been sent is the answer. */
  private static void write(
      HttpCall call, HttpClientRequest request, CompletableFuture<Incoming> head)
      throws IOException {
    CallBody body = call.body().orElseThrow();
    if (body.length() == CallBody.UNKNOWN) {
      request.setChunked(true);
    } else {
      request.putHeader("Content-Length", Long.toString(body.length()));
    }
    try {
      Outgoing out = new Outgoing(request, head, call);
      body.writeTo(out);
      out.end();
    } catch (AnsweredEarly early) {
      return;
    }
  }

  private RequestOptions options(HttpCall call, InetAddress address) {
    URI url = call.url();
    String query = url.getRawQuery() == null ? "" : '?' + url.getRawQuery();
    String path = url.getRawPath().isEmpty() ? "/" : url.getRawPath();
    RequestOptions options = options(HttpMethod.valueOf(call.method()), url, path + query, address);
    call.headers().forEach(options::addHeader);
    return options;
  }

  private RequestOptions options(HttpMethod method, URI url, String target, InetAddress address) {
    boolean isEncrypted = url.getScheme().equalsIgnoreCase("https");
    int port = RemoteAddress.port(url);
    RequestOptions options =
        new RequestOptions()
            .setMethod(method)
            .setServer(SocketAddress.inetSocketAddress(port, address.getHostAddress()))
            .setHost(url.getHost())
            .setPort(port)
            .setSsl(isEncrypted)
            .setURI(target);
    if (isEncrypted) {
      options.setSslOptions(tls);
    }
    return options;
  }

  /**
   * Begins a request that its caller writes, and whose answer it reads, on an event loop. Nothing
   * limits how long that takes.
   *
   * @param place of the server, and the beginning of the path
   * @param rest of the target
   */
  public Future<HttpClientRequest> begin(HttpMethod method, URI place, String rest, Context loop) {
    String target = place.getRawPath() + rest;
    return Future.fromCompletionStage(places.of(place.getHost()), loop)
        .compose(addresses -> connect(addresses, it -> options(method, place, target, it)))
        .recover(failure -> Future.failedFuture(asIo(failure)));
  }

  /** The whole answer to a request. */
  public record WholeAnswer(int status, Optional<String> retryAfter, byte[] body) {}

  /**
   * Sends a request without waiting. Whoever cancels it ends the request.
   *
   * @param room is asked before the answer takes more memory, with all its bytes
   */
  public CompletableFuture<WholeAnswer> fetch(HttpCall call, IntPredicate room) {
    Fetching fetching = new Fetching(room);
    long patience = call.patience().toMillis();
    hosts
        .of(call.url().getHost())
        .thenCompose(
            addresses ->
                connect(addresses, it -> options(call, it).setIdleTimeout(patience))
                    .toCompletionStage())
        .whenComplete(
            (request, failure) -> {
              if (failure == null) {
                fetching.begin(call, request);
              } else {
                fetching.completeExceptionally(asIo(failure));
              }
            });
    return fetching;
  }

  /** Connects to the first address that takes it. */
  private Future<HttpClientRequest> connect(
      List<InetAddress> addresses, Function<InetAddress, RequestOptions> to) {
    Future<HttpClientRequest> first = begun(feeds, to.apply(addresses.get(0)));
    for (InetAddress other : addresses.subList(1, addresses.size())) {
      first = first.recover(refused -> begun(feeds, to.apply(other)));
    }
    return first;
  }

  /** A connection that ends is a runtime exception of Vert.x. */
  private static Throwable asIo(Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    boolean isKnown =
        cause instanceof LectusException
            || cause instanceof UnknownHostException
            || cause instanceof TooLong;
    return isKnown ? cause : new IOException(told(cause), cause);
  }

  /** Returns what users are told of a failure, without names of classes and without addresses. */
  private static String told(Throwable cause) {
    Throwable first = cause;
    while (cause instanceof SSLException && first.getCause() != null) {
      first = first.getCause();
    }
    String message = first.getMessage() == null ? "The connection failed" : first.getMessage();
    return message.startsWith(NO_TLS)
        ? "The server does not speak TLS"
        : FRAME.matcher(message).replaceAll("");
  }

  /** An answer that is collected while it comes. */
  private static final class Fetching extends CompletableFuture<WholeAnswer> {
    private final IntPredicate room;
    private final Buffer bytes = Buffer.buffer();

    Fetching(IntPredicate room) {
      this.room = room;
    }

    void begin(HttpCall call, HttpClientRequest request) {
      whenComplete(
          (answer, failure) -> {
            if (failure != null) {
              request.reset();
            }
          });
      request.response().onComplete(this::collect, failure -> completeExceptionally(asIo(failure)));
      if (call.body().isPresent()) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        try {
          call.body().get().writeTo(body);
        } catch (IOException e) {
          completeExceptionally(e);
        }
        request.end(Buffer.buffer(body.toByteArray()));
      } else {
        request.end();
      }
    }

    private void collect(HttpClientResponse response) {
      response.exceptionHandler(failure -> completeExceptionally(asIo(failure)));
      response.handler(
          part -> {
            int length = bytes.length() + part.length();
            if (isDone()) {
              return;
            }
            if (!room.test(length)) {
              completeExceptionally(new TooLong(length));
            } else {
              bytes.appendBuffer(part);
            }
          });
      response.endHandler(
          end ->
              complete(
                  new WholeAnswer(
                      response.statusCode(),
                      Optional.ofNullable(response.getHeader("Retry-After")),
                      bytes.getBytes())));
    }
  }

  /** There is no room for an answer that is so long. */
  public static final class TooLong extends IOException {
    private static final long serialVersionUID = 1;

    TooLong(int bytes) {
      super("There is no room for an answer of " + bytes + " bytes or more.");
    }
  }

  private static <T> T await(Future<T> future, HttpCall call) throws IOException {
    return get(future.toCompletionStage().toCompletableFuture(), call);
  }

  private static <T> T get(CompletableFuture<T> future, HttpCall call) throws IOException {
    for (Patience left = new Patience(call); ; ) {
      try {
        return future.get(left.next(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        left.check("No answer came");
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException();
      } catch (ExecutionException e) {
        Throwable known = asIo(e.getCause());
        if (known instanceof LectusException refused) {
          throw refused;
        }
        throw (IOException) known;
      }
    }
  }

  /** How long one thing is waited for. The wait is short once nobody wants it any more. */
  private static final class Patience {
    private final HttpCall call;
    private long millis;
    private long waited;
    private long stoppedAt = -1;

    Patience(HttpCall call) {
      this.call = call;
    }

    /** Returns for how long to wait before the next check. */
    long next() {
      millis = Math.min(LOOK_MILLIS, call.patience().toMillis() - waited);
      return millis;
    }

    void check(String what) throws IOException {
      waited += millis;
      if (stoppedAt < 0 && call.isStopped().getAsBoolean()) {
        stoppedAt = waited;
      }
      boolean isOver = stoppedAt >= 0 && waited - stoppedAt >= STOP_MILLIS;
      if (isOver || waited >= call.patience().toMillis()) {
        throw new IOException(what + " within " + waited + " ms.");
      }
    }
  }

  /** An answer has come before the request was sent. */
  private static final class AnsweredEarly extends IOException {
    private static final long serialVersionUID = 1;
  }

  /** Sends each part when the one before has gone. */
  private static final class Outgoing extends OutputStream {
    private final HttpClientRequest request;
    private final CompletableFuture<Incoming> head;
    private final HttpCall call;
    private final byte[] part = new byte[WRITTEN_AT_ONCE];
    private int filled;

    Outgoing(HttpClientRequest request, CompletableFuture<Incoming> head, HttpCall call) {
      this.request = request;
      this.head = head;
      this.call = call;
    }

    @Override
    public void write(int octet) throws IOException {
      write(new byte[] {(byte) octet}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      int at = from;
      int left = length;
      while (left > 0) {
        int taken = Math.min(left, part.length - filled);
        System.arraycopy(bytes, at, part, filled, taken);
        filled += taken;
        at += taken;
        left -= taken;
        if (filled == part.length) {
          pass();
        }
      }
    }

    @Override
    public void flush() throws IOException {
      if (head.isDone()) {
        throw new AnsweredEarly();
      }
      if (filled > 0) {
        pass();
      }
    }

    private void pass() throws IOException {
      if (head.isDone()) {
        throw new AnsweredEarly();
      }
      Buffer next = Buffer.buffer(Arrays.copyOf(part, filled));
      filled = 0;
      try {
        await(request.write(next), call);
      } catch (IOException failure) {
        if (head.isDone() && !head.isCompletedExceptionally()) {
          throw new AnsweredEarly();
        }
        throw failure;
      }
    }

    /** Ends a body that is whole. */
    void end() {
      if (head.isDone()) {
        return;
      }
      request.end(Buffer.buffer(Arrays.copyOf(part, filled)));
      filled = 0;
    }
  }

  /** Keeps a few parts, and asks for the next when one was read. */
  private static final class Incoming extends InputStream {
    private static final Buffer END = Buffer.buffer();

    private final HttpClientRequest request;
    private final HttpClientResponse response;
    private final int status;
    private final HttpCall call;
    private final BlockingQueue<Buffer> parts = new LinkedBlockingQueue<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private byte[] part = new byte[0];
    private int at;
    private boolean ended;

    /** Called on the event loop, before any part has come. */
    Incoming(HttpClientRequest request, HttpClientResponse response, HttpCall call) {
      this.request = request;
      this.response = response;
      this.status = response.statusCode();
      this.call = call;
      response.pause();
      response.handler(parts::add);
      response.endHandler(end -> parts.add(END));
      response.exceptionHandler(
          cause -> {
            failure.set(cause);
            parts.add(END);
          });
      response.fetch(PARTS_AHEAD);
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int from, int length) throws IOException {
      if (length == 0) {
        return 0;
      }
      while (at == part.length) {
        if (ended) {
          return -1;
        }
        next();
      }
      int taken = Math.min(length, part.length - at);
      System.arraycopy(part, at, into, from, taken);
      at += taken;
      return taken;
    }

    private void next() throws IOException {
      Buffer next = awaited();
      if (next == END) {
        if (failure.get() != null) {
          throw new IOException(told(failure.get()), failure.get());
        }
        ended = true;
        return;
      }
      response.fetch(1);
      part = next.getBytes();
      at = 0;
    }

    private Buffer awaited() throws IOException {
      try {
        Patience left = new Patience(call);
        Buffer next = parts.poll(left.next(), TimeUnit.MILLISECONDS);
        while (next == null) {
          left.check("No byte came");
          next = parts.poll(left.next(), TimeUnit.MILLISECONDS);
        }
        return next;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException();
      }
    }

    @Override
    public void close() {
      if (!ended) {
        request.reset();
      }
    }
  }

  @Override
  public void close() {
    hosts.close();
    places.close();
    client.close();
    feeds.close();
  }

  /**
   * Finds the addresses of other servers. Java's resolver keeps a thread while a name server does
   * not answer. So nobody waits long for it, whoever asks for the same name waits with the first
   * one, and the names of one domain have a part of the threads. Thread-safe.
   */
  static final class LookUps implements AutoCloseable {
    private static final int IDLE_SECONDS = 30;

    /** One domain has one thread of so many. */
    private static final int DOMAIN_PART = 4;

    private final Function<String, List<InetAddress>> resolver;
    private final AllowedHosts allowed;
    private final long patienceMillis;
    private final ThreadPoolExecutor threads;
    private final SharedThreads shared;
    private final Map<String, CompletableFuture<List<InetAddress>>> underWay = new HashMap<>();

    /**
     * @param resolver waits; throws {@link CompletionException}
     * @param mostThreads that wait for name servers at a time
     */
    LookUps(
        AllowedHosts allowed,
        Function<String, List<InetAddress>> resolver,
        int mostThreads,
        long patienceMillis) {
      this.allowed = allowed;
      this.resolver = resolver;
      this.patienceMillis = patienceMillis;
      this.threads =
          DaemonThreads.pool(mostThreads, IDLE_SECONDS, DaemonThreads.named("lectus-look-up"));
      this.shared = new SharedThreads(threads, Math.max(1, mostThreads / DOMAIN_PART));
    }

    /** Asks the name servers that this machine knows. */
    static List<InetAddress> ofSystem(String name) {
      try {
        return List.of(InetAddress.getAllByName(name));
      } catch (UnknownHostException unknown) {
        throw new CompletionException(unknown);
      }
    }

    /**
     * Returns the addresses of a host, all of which may be asked.
     *
     * @param host a name or an address, one of IPv6 in brackets or not
     * @return fails with {@link UnknownHostException}, or with {@link LectusException}, {@code
     *     forbidden}
     */
    CompletableFuture<List<InetAddress>> of(String host) {
      String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
      Optional<InetAddress> literal = IpLiteral.parse(bare);
      CompletableFuture<List<InetAddress>> found =
          literal
              .map(it -> CompletableFuture.completedFuture(List.of(it)))
              .orElseGet(() -> named(bare));
      return found.thenApply(
          addresses -> {
            allowed.check(bare, addresses);
            return addresses;
          });
    }

    private CompletableFuture<List<InetAddress>> named(String name) {
      CompletableFuture<List<InetAddress>> found;
      synchronized (this) {
        found = underWay.get(name);
        if (found == null) {
          found =
              CompletableFuture.supplyAsync(() -> resolver.apply(name), shared.of(domain(name)));
          underWay.put(name, found);
        }
      }
      found.whenComplete((addresses, failure) -> forget(name));
      return found
          .copy()
          .orTimeout(patienceMillis, TimeUnit.MILLISECONDS)
          .exceptionallyCompose(
              failure ->
                  CompletableFuture.failedFuture(
                      failure instanceof TimeoutException
                          ? new UnknownHostException("No name server has answered for " + name)
                          : failure));
    }

    /** An answer is not kept here: Java's resolver keeps it for some seconds. */
    private synchronized void forget(String name) {
      underWay.computeIfPresent(name, (same, found) -> found.isDone() ? null : found);
    }

    /** Returns the last two labels. */
    private static String domain(String name) {
      int last = name.lastIndexOf('.', name.length() - 2);
      return name.substring(last < 0 ? 0 : name.lastIndexOf('.', last - 1) + 1);
    }

    @Override
    public void close() {
      threads.shutdownNow();
    }
  }
}
