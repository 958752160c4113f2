package lectus.http.exchange;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.UnaryOperator;
import lectus.document.PagedBody;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.ReaderTurns.Kind;
import lectus.http.memory.ClientMemory;
import lectus.http.memory.ParsedMemory;
import lectus.http.message.AcceptedTypes;
import lectus.http.message.EntityTag;
import lectus.http.message.Headers;
import lectus.http.message.Method;
import lectus.http.message.QueryParameters;
import lectus.http.message.Reply;
import lectus.http.message.RequestTarget;

/**
 * One request and its answer. Its methods run on the connection's event loop unless they say
 * otherwise; work goes to other threads through {@link #work} and comes back by itself.
 *
 * <p>What fails before the first byte of the answer is answered with a status; what fails after it
 * resets the connection, so that nobody takes half an answer for a whole one.
 */
public final class Exchange {
  private static final int SWITCHING_PROTOCOLS = 101;
  private static final int INTERNAL_ERROR = 500;

  /** In the log alone: nobody was there to be answered. */
  private static final int CLIENT_GONE = 499;

  private final HttpLoop loop;
  private final HttpServerRequest request;
  private final Context context;
  private final String id;
  private final long startNanos = System.nanoTime();
  private final Method method;
  private final HeldMemory held;
  private final Presence presence = new Presence();
  private final ConnectionUse use;
  private boolean inUse = true;
  private RequestTarget target;
  private QueryParameters query;
  private boolean databaseLookedUp;

  public Exchange(HttpLoop loop, Context context, HttpServerRequest request) {
    this.loop = loop;
    this.context = context;
    this.request = request;
    this.method = Method.of(request.method(), header(Headers.METHOD_OVERRIDE));
    this.held = new HeldMemory(loop.services().memory());
    this.id = RequestIds.of(header(Headers.REQUEST_ID));
    this.use = Clients.use(request.connection());
    use.begin(request.version() == HttpVersion.HTTP_2);
    whenLeft(() -> {});
  }

  public void aimAt(RequestTarget target) {
    this.target = target;
  }

  public String id() {
    return id;
  }

  long startNanos() {
    return startNanos;
  }

  public Method method() {
    return method;
  }

  /** As it was sent, for the log. */
  String methodName() {
    return request.method().name();
  }

  public boolean isHead() {
    return method == Method.HEAD;
  }

  /** As it was sent, for the log. */
  String rawPath() {
    return target == null ? uri() : target.path();
  }

  /** As it was sent; empty if there is none, as with HTTP/2's CONNECT. */
  public String uri() {
    String uri = request.uri();
    return uri == null ? "" : uri;
  }

  /** Whether it is known what the request is about. */
  boolean isAimed() {
    return target != null;
  }

  /** The decoded names of the path. */
  public List<String> segments() {
    return target.segments();
  }

  /** Whether the names of the path are UTF-8; else they name nothing that there can be. */
  public boolean hasUtf8Names() {
    return target.isUtf8();
  }

  public String segment(int index) {
    return target.segments().get(index);
  }

  /**
   * @throws LectusException {@code bad_request}: not percent-encoded UTF-8
   */
  public QueryParameters query() {
    if (query == null) {
      query = QueryParameters.parse(target.query());
    }
    return query;
  }

  /** The first value of a request header; null if absent. */
  public String header(CharSequence name) {
    return request.headers().get(name);
  }

  /**
   * Whether the client has this state already: an {@code If-None-Match} lists the tag, weak or not.
   */
  public boolean hasSeen(EntityTag tag) {
    return tag.isListedIn(header(HttpHeaders.IF_NONE_MATCH));
  }

  /** The media types that the client takes. */
  public AcceptedTypes accepts() {
    return AcceptedTypes.of(request.headers().getAll(HttpHeaders.ACCEPT));
  }

  /** Where a browser's EventSource goes on when it comes again. */
  public Optional<String> lastEventId() {
    return Optional.ofNullable(header(Headers.LAST_EVENT_ID));
  }

  public HttpServerRequest request() {
    return request;
  }

  public HttpServerResponse response() {
    return request.response();
  }

  public Context context() {
    return context;
  }

  HttpLoop loop() {
    return loop;
  }

  /**
   * Finds out whether the client asks for this server by a name that it has.
   *
   * @throws LectusException {@code bad_request}
   */
  public void checkHost() {
    new RequestedHost(this, loop.settings().hosts()).check();
  }

  /** Answers a preflight request of CORS, if this is one that may be granted; else does nothing. */
  public boolean answerPreflight() {
    return method == Method.OPTIONS && loop.cors().preflight(this);
  }

  /** Runs {@code work} on a reader's thread; its answer or failure is sent from here. */
  public void answer(Callable<Reply> work) {
    work(work).onComplete(this::reply, this::fail);
  }

  /** Reads the whole body, then runs {@code work} with it on a reader's thread. */
  public void answerBody(BodyWork<Reply> work) {
    body().compose(body -> work(() -> work.answer(body))).onComplete(this::reply, this::fail);
  }

  /** Sends a body of any length, part by part; with HEAD, only what the first part shows. */
  public void stream(Callable<PagedBody> body) {
    streamTagged(() -> StreamedBody.untagged(body.call()));
  }

  /** As {@link #stream}, but of the body's own type; 304 if the client has what its tag names. */
  public void streamTagged(Callable<StreamedBody> body) {
    new ResponseStream(this, body, Kind.REQUEST, Kind.LONG_ANSWER).start();
  }

  /** As {@link #stream}, on the feeds' share of the threads. */
  public void streamFeed(Callable<PagedBody> body) {
    streamFeedTagged(() -> StreamedBody.untagged(body.call()));
  }

  /** As {@link #streamTagged}, on the feeds' share of the threads. */
  public void streamFeedTagged(Callable<StreamedBody> body) {
    new ResponseStream(this, body, Kind.FEED, Kind.LONG_FEED).start();
  }

  /** Reads the whole request body and sends what {@code work} makes of it, part by part. */
  public void streamBody(BodyWork<PagedBody> work) {
    body().onComplete(body -> stream(() -> work.answer(body)), this::fail);
  }

  /**
   * Runs {@code work} on a reader's thread; the result comes back on this event loop. What only
   * reads is dropped when its client leaves before it starts. What may become a write is done, as
   * CouchDB does it.
   */
  public <T> Future<T> work(Callable<T> work) {
    Executor readers = readers(Kind.REQUEST);
    return method == Method.GET || method == Method.HEAD
        ? Offload.inTime(patience(), readers, context, work)
        : Offload.forCertain(patience(), readers, context, work);
  }

  /** Runs {@code work}, which only reads, on a reader's thread; else as {@link #work}. */
  public <T> Future<T> read(Kind kind, Callable<T> work) {
    boolean isWaitedFor = kind == Kind.REQUEST || kind == Kind.FEED;
    return isWaitedFor
        ? Offload.inTime(patience(), readers(kind), context, work)
        : Offload.to(readers(kind), context, work);
  }

  /** How long a client waits in vain before it is answered 503. */
  public Duration patience() {
    return Duration.ofSeconds(loop.settings().requestSeconds());
  }

  /** The readers' threads, for this client. What is kept of it keeps nothing of the request. */
  public Executor readers(Kind kind) {
    Object client = Clients.of(request.connection());
    return presence.guarding(loop.services().readers().of(client, kind));
  }

  /**
   * Runs what may throw, and answers what it throws, be it that memory ran out: nobody else would
   * answer the request, nor give back what it holds.
   */
  public void guarded(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  /** The request's body, whole, decompressed, within the limit. */
  public Future<byte[]> body() {
    return body(loop.settings().maxRequestBytes());
  }

  /**
   * As {@link #body()}, for what is never long.
   *
   * @param limit in bytes
   */
  public Future<byte[]> body(int limit) {
    return RequestBody.read(this, Math.min(limit, loop.settings().maxRequestBytes()));
  }

  /** A part of the body, copied on a reader's thread. It is counted like another body. */
  public Future<byte[]> bodyPart(UnaryOperator<byte[]> part) {
    return RequestBody.readPart(this, loop.settings().maxRequestBytes(), part);
  }

  /** Sends a whole answer, or in its place why it cannot be sent. */
  public void reply(Reply reply) {
    try {
      new WholeResponse(this, reply).send();
    } catch (RuntimeException | Error unsent) {
      if (reply.status() == INTERNAL_ERROR) {
        reset();
      } else {
        fail(unsent);
      }
    }
  }

  /**
   * Says with the answer's head, if it is not sent yet, that the connection ends behind it. An
   * error is answered at once from here on, for nobody waits until a database is looked up.
   */
  void announceCut() {
    new ResponseHead(this).announceCut();
    databaseLookedUp = true;
  }

  /** Puts status and headers that every answer has, without sending them yet. */
  public void writeHead(int status, CharSequence contentType, List<Reply.Header> headers) {
    new ResponseHead(this).write(status, contentType, headers);
  }

  /** As {@link #writeHead}, of a body that is written part by part. */
  public void writeStreamHead(int status, CharSequence contentType, List<Reply.Header> headers) {
    ResponseHead head = new ResponseHead(this);
    head.write(status, contentType, headers);
    head.precedesStream();
  }

  /** Sends the head of such a body before there is anything of it. */
  public void sendHead() {
    new ResponseHead(this).send();
  }

  /**
   * Answers an error, or that there is no such database; resets the connection if an answer has
   * begun. A client that went away before its answer was begun is no failure.
   */
  public void fail(Throwable failure) {
    if (failure instanceof ClientLeft || ClientFaults.isDeparture(failure)) {
      abandoned();
      return;
    }
    LectusError error = Failures.errorOf(failure, id);
    if (response().headWritten()) {
      reset();
    } else if (!databaseLookedUp && loop.databaseFirst().concerns(this, error)) {
      databaseLookedUp = true;
      answer(() -> loop.databaseFirst().insteadOf(error, this));
    } else {
      reply(Reply.error(error));
    }
  }

  /** Notes that a streamed answer has been handed over completely. */
  public void streamed() {
    finished(response().getStatusCode(), response().bytesWritten());
  }

  /**
   * Runs {@code action}, in place of one that was named before, when the client gives the request
   * up; also when it goes after the answer.
   */
  public void whenLeft(Runnable action) {
    Runnable leave =
        () -> {
          presence.leave();
          action.run();
        };
    response().closeHandler(none -> leave.run());
    response().exceptionHandler(failure -> leave.run());
  }

  /**
   * Whether the client has gone already. No handler that is set from then on is told of it, so
   * whoever begins an answer behind work on another thread asks first.
   */
  public boolean isAbandoned() {
    return response().closed();
  }

  /** Notes that the client went away before its answer was complete. */
  public void abandoned() {
    finished(CLIENT_GONE, response().bytesWritten());
  }

  /** Notes that the connection has become a WebSocket. */
  void upgraded() {
    finished(SWITCHING_PROTOCOLS, 0);
  }

  void afterMillis(long millis, Runnable task) {
    context.owner().setTimer(millis, timer -> task.run());
  }

  /** Ends the answer so that the client sees an error, not an end. */
  void reset() {
    finished(response().getStatusCode(), response().bytesWritten());
    cut();
  }

  /** Ends the connection; over HTTP/2, where others share it, this request's stream. */
  void cut() {
    if (request.version() == HttpVersion.HTTP_2) {
      response().reset();
    } else {
      request.connection().close();
    }
  }

  /** The accounts of what clients make the server hold. */
  public ClientMemory memory() {
    return loop.services().memory();
  }

  HeldMemory held() {
    return held;
  }

  /** Counts what is made of the body, on whatever thread, until the request is finished. */
  public ParsedMemory parsing() {
    return held.parsing();
  }

  /**
   * The body was parsed, and a live feed goes on with what became of it, of which each server has
   * room for so much only.
   *
   * @param bytes that it takes in memory
   * @throws LectusException {@code too_large} (413), service_unavailable (503)
   */
  public void bodyBecomesFilter(long bytes) {
    held.bodyBecomesFilter(bytes);
  }

  /** As {@link #bodyBecomesFilter}, of a filter that was in the request's URL. */
  public void holdsFilter(long bytes) {
    held.holdsFilter(bytes);
  }

  /** Gives back what the request held, and logs it. */
  void finished(int status, long bodyBytes) {
    held.giveBack();
    if (inUse && status != SWITCHING_PROTOCOLS) {
      inUse = false;
      use.end(request::isEnded);
    }
    loop.accessLog().record(this, status, bodyBytes);
  }
}
