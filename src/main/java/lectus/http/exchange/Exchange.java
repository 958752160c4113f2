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
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.DatabaseRequest.DatabaseAccess;
import lectus.database.UserContext;
import lectus.database.UserContext.DatabaseRight;
import lectus.database.UserContext.Session;
import lectus.database.Whereabouts.Moved;
import lectus.document.PagedBody;
import lectus.error.LectusException;
import lectus.http.AcceptedTypes;
import lectus.http.EntityTag;
import lectus.http.Headers;
import lectus.http.HttpSettings;
import lectus.http.Method;
import lectus.http.QueryParameters;
import lectus.http.Reply;
import lectus.http.RequestTarget;
import lectus.http.limits.ClientMemory;
import lectus.http.limits.MemoryAccount;
import lectus.http.limits.ParsedMemory;
import lectus.http.limits.RequestThreads.Kind;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.metrics.RequestLabel;
import lectus.metrics.StageNotes;

/**
 * One request and its answer. Its methods run on the connection's event loop unless they say
 * otherwise; {@link #work} hands work to other threads and brings the result back.
 *
 * <p>A failure before the first byte of the answer is answered with a status; a later one resets
 * the connection, so that nobody takes half an answer for a whole one.
 *
 * <p>Nobody is known to ask until the request has been authenticated, and nothing is allowed until
 * it was admitted.
 */
public final class Exchange {
  private static final int SWITCHING_PROTOCOLS = 101;
  private static final long LEFT_BODY_MILLIS = 5_000;

  /** Only used in the log: nobody was left to answer. */
  private static final int CLIENT_GONE = 499;

  /** CouchDB's limit on a client's own request id, the length of a UUID with its hyphens. */
  private static final int MAX_ID_LENGTH = 36;

  private static final int RANDOM_ID_DIGITS = 10;
  private static final String HEX = "0123456789abcdef";

  private final HttpLoop loop;
  private final HttpSettings settings;
  private final HttpServerRequest request;
  private final Context context;
  private final String id;
  private final long startNanos = System.nanoTime();
  private final Method method;
  private final AtomicBoolean hasLeft = new AtomicBoolean();
  private final RequestTiming timing;
  private final AnswerEncoding encoding;
  private final Response response;
  private final ClientConnection connection;
  private boolean inUse = true;
  private RequestTarget target;
  private QueryParameters query;
  private boolean isFeed;

  /** Made when needed. */
  private HeldMemory held;

  private Dispatch dispatch;

  private Identity identity = Identity.ANONYMOUS;
  private boolean isKnown;

  /** The right in the request's database; null until the request was admitted. */
  private DatabaseRight right;

  private DatabaseAccess access = Exchange::refuse;

  /** Where the request's database has moved; empty: it is here, or nobody has asked. */
  private Optional<Moved> elsewhere = Optional.empty();

  /** Whether the request is left unread until its body has a reader, or it becomes a socket. */
  private boolean isKeptUnread;

  /** Whether it is left unread until it is known who sends it. */
  private boolean waitsForLogIn;

  /** What becomes of a request's body, on a reader's thread. */
  public interface BodyWork<A> {
    A answer(byte[] body) throws Exception;
  }

  public Exchange(HttpLoop loop, Context context, HttpServerRequest request) {
    this.loop = loop;
    this.settings = loop.settings.get();
    this.context = context;
    this.request = request;
    this.method = Method.of(request.method(), header(Headers.METHOD_OVERRIDE));
    this.encoding = new AnswerEncoding(this);
    this.id = idOf(header(Headers.REQUEST_ID));
    this.response = new Response(this);
    this.connection = ClientConnection.of(request.connection());
    this.timing = loop.begun(request);
    connection.begin(request.version() == HttpVersion.HTTP_2);
    whenLeft(() -> {});
  }

  /**
   * Returns the id that names the request in its answer and in the log: the client's own, so that
   * it finds its requests again, else random lower-case hex digits.
   *
   * @param chosen the client's header; null if absent. An id that is too long, or has characters
   *     that could be misread in a log, counts as absent.
   */
  private static String idOf(String chosen) {
    boolean isLegal =
        chosen != null
            && !chosen.isEmpty()
            && chosen.length() <= MAX_ID_LENGTH
            && chosen.chars().allMatch(Exchange::isPlain);
    return isLegal ? chosen : randomId();
  }

  private static boolean isPlain(int c) {
    return (c >= '0' && c <= '9')
        || (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || c == '-'
        || c == '_';
  }

  private static String randomId() {
    long random = ThreadLocalRandom.current().nextLong();
    char[] id = new char[RANDOM_ID_DIGITS];
    for (int i = 0; i < RANDOM_ID_DIGITS; i++) {
      id[i] = HEX.charAt((int) (random >>> (4 * i)) & 0xf);
    }
    return new String(id);
  }

  private static void refuse(DatabaseHandle db) {
    throw LectusException.forbidden("The request was not admitted.");
  }

  /** Notes who asks. */
  public void become(Identity known) {
    identity = known;
    isKnown = true;
  }

  /** Returns who asks; anonymous until that is known. */
  public Identity identity() {
    return identity;
  }

  public UserContext user() {
    return identity.user();
  }

  /**
   * Notes the rights in the request's database, once the request may be served at all.
   *
   * @param reading judges whether reading is still allowed, each time that the database is read
   */
  public void admit(DatabaseRight judged, DatabaseAccess reading) {
    right = judged;
    access = reading;
  }

  /** Whether the request may be served. */
  boolean isAdmitted() {
    return right != null;
  }

  /** Whether design documents and settings of the request's database may be written. */
  public boolean isDatabaseAdmin() {
    return right == DatabaseRight.ADMIN;
  }

  /**
   * Whether the request is about what is in a database, as its path says: whoever makes or deletes
   * one does that here.
   */
  public boolean isInDatabase() {
    List<String> path = target.segments();
    if (path.isEmpty() || !DatabaseName.isLegal(path.get(0))) {
      return false;
    }
    return path.size() > 1 || (method != Method.PUT && method != Method.DELETE);
  }

  /** Notes that the request's database has moved. It is judged there. */
  public void goesTo(Moved place) {
    elsewhere = Optional.of(place);
  }

  /** Passes the request on if its database has moved; returns whether it has. */
  public boolean passOn() {
    elsewhere.ifPresent(to -> loop.forwarding().pass(this, to));
    return elsewhere.isPresent();
  }

  /** As {@link #passOn}, for a request that did not find its database here any more. */
  boolean passLate() {
    if (!isKnown || elsewhere.isPresent() || !isInDatabase()) {
      return false;
    }
    elsewhere = loop.catalogue().remembered(databaseName()).flatMap(DatabaseHandle::passesTo);
    elsewhere.ifPresent(to -> loop.forwarding().passLate(this, to));
    return elsewhere.isPresent();
  }

  /** Returns what allows reading, which any thread may ask. */
  public DatabaseAccess access() {
    return access;
  }

  /**
   * Returns the database that the first name of the path refers to.
   *
   * @throws LectusException {@code not_found}: no database can have this name
   */
  public DatabaseName databaseName() {
    return loop.database(segment(0));
  }

  /**
   * Returns the database that the first name of the path refers to, to be read for whoever asks.
   *
   * @throws LectusException as {@link #databaseName}
   */
  public DatabaseRequest database() {
    return new DatabaseRequest(databaseName(), access);
  }

  /** Returns the settings as they were when the request came. */
  public HttpSettings settings() {
    return settings;
  }

  public void aimAt(RequestTarget target) {
    this.target = target;
  }

  public String id() {
    return id;
  }

  /** Returns what the log says of this request. */
  public RequestLabel label() {
    Optional<String> database =
        target == null ? Optional.empty() : RouteTemplate.databaseOf(target.segments());
    return new RequestLabel(id, user().name(), database);
  }

  /** Returns who is told what the request waits for. */
  public StageNotes stages() {
    return timing.stages();
  }

  /** Notes that the last part of the answer is on its way. */
  Future<Void> sends(Future<Void> sent) {
    timing.sends(sent);
    return sent;
  }

  long startNanos() {
    return startNanos;
  }

  public Method method() {
    return method;
  }

  public boolean isHead() {
    return method == Method.HEAD;
  }

  /**
   * Returns the path as it was sent, for the log. Passwords and tokens may stand before and after
   * it.
   */
  String rawPath() {
    return target == null ? RequestTarget.visible(uri()) : target.path();
  }

  /** Returns the target as it was sent; empty if there is none, as with HTTP/2's CONNECT. */
  public String uri() {
    String uri = request.uri();
    return uri == null ? "" : uri;
  }

  /** Whether the resource of the request is known. */
  boolean isAimed() {
    return target != null;
  }

  /** Returns the kind of resource that is asked for. */
  RouteTemplate route() {
    return isAimed() ? RouteTemplate.of(target.segments()) : RouteTemplate.unknown();
  }

  /** Returns the target with the decoded names of the path. */
  public RequestTarget target() {
    return target;
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

  /** Returns the first value of a request header, by {@link Headers#text}; null if absent. */
  public String header(CharSequence name) {
    String octets = request.headers().get(name);
    return octets == null ? null : Headers.text(octets);
  }

  /** Returns the octets of the first value of a request header; empty if absent. */
  public byte[] headerBytes(CharSequence name) {
    String octets = request.headers().get(name);
    return octets == null ? new byte[0] : Headers.bytes(octets);
  }

  /** Whether the request has a body; over HTTP/2, whether it may have one. */
  public boolean hasBody() {
    String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    if (length != null) {
      return !length.equals("0");
    }
    return request.version() == HttpVersion.HTTP_2
        ? method != Method.GET && !isHead()
        : request.headers().contains(HttpHeaders.TRANSFER_ENCODING);
  }

  /**
   * Whether the client has this state already: its {@code If-None-Match} lists the tag, weak or
   * not.
   */
  public boolean hasSeen(EntityTag tag) {
    return tag.isListedIn(header(HttpHeaders.IF_NONE_MATCH));
  }

  /**
   * Returns the {@code Range} that is asked for of a state; null if none is. A part is of use only
   * to who has the rest of the same content (RFC 9110, section 13.1.5).
   */
  public String range(EntityTag tag) {
    String same = header("If-Range");
    return same == null || same.equals(tag.header()) ? header("Range") : null;
  }

  /** Returns the media types that the client accepts. */
  public AcceptedTypes accepts() {
    return AcceptedTypes.of(request.headers().getAll(HttpHeaders.ACCEPT));
  }

  /** Returns the id from which a reconnecting EventSource of a browser resumes. */
  public Optional<String> lastEventId() {
    return Optional.ofNullable(header(Headers.LAST_EVENT_ID));
  }

  public HttpServerRequest request() {
    return request;
  }

  public ClientConnection connection() {
    return connection;
  }

  /**
   * Leaves it unread until it is known who sends it: nobody has begun to read its body. If that is
   * no HTTP, the connection ends as soon as the parser has told so.
   */
  public void keepForLogIn() {
    waitsForLogIn = true;
    request.pause();
    if (hasBody()) {
      request.exceptionHandler(this::unreadable);
    }
  }

  private void unreadable(Throwable told) {
    Throwable why = Failures.ofReading(told);
    if (waitsForLogIn && !Failures.isDeparture(why)) {
      failAtOnce();
      fail(why);
    }
  }

  /** Reads it now that this is known. */
  public void endLogIn() {
    waitsForLogIn = false;
    readOn();
  }

  /**
   * Leaves it unread until the reader of its body resumes it, or as long as it may become a socket.
   * A request that was read to its end cannot become one any more, and what is read of a body
   * before it has a reader is lost.
   */
  public void keepUnread() {
    isKeptUnread = true;
    request.pause();
  }

  /** Notes that it becomes no socket. */
  public void becomesNoSocket() {
    isKeptUnread = false;
    readOn();
  }

  /** Reads it, unless it may become a socket, or its body has or may get a reader of its own. */
  public void readOn() {
    if (!isKeptUnread && !waitsForLogIn && !response().closed()) {
      request.resume();
    }
  }

  public HttpServerResponse response() {
    return request.response();
  }

  public Context context() {
    return context;
  }

  public HttpLoop loop() {
    return loop;
  }

  public AnswerEncoding encoding() {
    return encoding;
  }

  /** Runs {@code work} on a reader's thread, and sends its answer or failure. */
  public void answer(Callable<Reply> work) {
    work(() -> encoding.ofWhole(work.call())).onComplete(this::reply, this::fail);
  }

  /** As {@link #answer}, with JSON that {@code work} appends. */
  public void answerJson(Consumer<JsonBuffer> work) {
    answer(
        () -> {
          JsonBuffer out = new JsonBuffer(512);
          work.accept(out);
          return Reply.json(200, out);
        });
  }

  /** Reads the whole body, then runs {@code work} with it on a reader's thread. */
  public void answerBody(BodyWork<Reply> work) {
    jsonBody().onComplete(body -> answer(() -> work.answer(body)), this::fail);
  }

  /** As {@link #answer}, for work that changes a database as a whole, on threads of its own. */
  public void answerChange(Callable<Reply> work) {
    change(work).onComplete(this::reply, this::fail);
  }

  /** As {@link #answerBody}, for work that changes a database as a whole. */
  public void answerBodyByChange(BodyWork<Reply> work) {
    jsonBody().onComplete(body -> answerChange(() -> work.answer(body)), this::fail);
  }

  /** Runs {@code work} as {@link #answerChange} does. */
  public <T> Future<T> change(Callable<T> work) {
    return dispatch().change(work);
  }

  /**
   * Sends a body of any length, part by part; for HEAD, only the head that the first part
   * determines.
   */
  public void stream(Callable<PagedBody> body) {
    streamTagged(() -> StreamedBody.untagged(body.call()));
  }

  /**
   * As {@link #stream}, with the body's own content type; 304 if the client has the tagged state.
   */
  public void streamTagged(Callable<StreamedBody> body) {
    new ResponseStream(this, body, ofRequest(), Kind.LONG_ANSWER).start();
  }

  /** As {@link #stream}, on the feeds' share of the threads. */
  public void streamFeed(Callable<PagedBody> body) {
    streamFeedTagged(() -> StreamedBody.untagged(body.call()));
  }

  /**
   * As {@link #streamTagged}, with a body that is there: it is abandoned if the client has left.
   */
  public void streamMade(StreamedBody body) {
    new ResponseStream(this, body, ofRequest(), Kind.LONG_ANSWER).start();
  }

  /** As {@link #streamTagged}, on the feeds' share of the threads. */
  public void streamFeedTagged(Callable<StreamedBody> body) {
    new ResponseStream(this, body, Kind.FEED, Kind.LONG_FEED).start();
  }

  /** Reads the whole request body and sends the answer of {@code work} part by part. */
  public void streamBody(BodyWork<PagedBody> work) {
    jsonBody().onComplete(body -> stream(() -> work.answer(body)), this::fail);
  }

  /**
   * Runs {@code work} on a reader's thread; the result comes back on this event loop. Work that
   * only reads is dropped if its client leaves before it starts. Work that may write is done, as in
   * CouchDB.
   */
  public <T> Future<T> work(Callable<T> work) {
    return method == Method.GET || method == Method.HEAD
        ? dispatch().read(ofRequest(), work)
        : dispatch().write(ofRequest(), work);
  }

  /** Runs {@code work}, which only reads, on a reader's thread; otherwise as {@link #work}. */
  public <T> Future<T> read(Kind kind, Callable<T> work) {
    return dispatch().read(kind, work);
  }

  private Kind ofRequest() {
    return held != null && held.hasLargeBody() ? Kind.LARGE_BODY : Kind.REQUEST;
  }

  /** Returns how long a client waits before it is answered 503. */
  public Duration patience() {
    return Duration.ofSeconds(settings.requests().requestSeconds());
  }

  /**
   * Returns the readers' threads for this client. The executor keeps no reference to the request.
   */
  public Executor readers(Kind kind) {
    return dispatch().readers(kind);
  }

  private Dispatch dispatch() {
    if (dispatch == null) {
      dispatch = new Dispatch(loop.readers, context, connection, hasLeft, patience(), stages());
    }
    return dispatch;
  }

  /**
   * Runs a step and answers what it throws, running out of memory included. Otherwise nobody would
   * answer the request or release what it holds.
   */
  public void guarded(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  /** Returns the whole request body, decompressed, within the limit. */
  public Future<byte[]> body() {
    return body(settings.requests().maxHeldBytes());
  }

  /**
   * As {@link #body()}, for bodies that are never long.
   *
   * @param limit in bytes
   */
  public Future<byte[]> body(int limit) {
    return RequestBody.read(this, Math.min(limit, settings.requests().maxHeldBytes()));
  }

  /** As {@link #body()}, of which a tree is made: there is room for that, too. */
  public Future<byte[]> jsonBody() {
    return body()
        .compose(
            body ->
                body.length <= MemoryAccount.TINY_BYTES
                    ? Future.succeededFuture(body)
                    : withTree(body, parsing()));
  }

  private Future<byte[]> withTree(byte[] body, ParsedMemory memory) {
    return parse(
        memory,
        () -> {
          memory.add(JsonValue.treeBytes(body));
          return body;
        });
  }

  /** Sends a whole answer, or else the reason why it cannot be sent. */
  public void reply(Reply reply) {
    response.whole(reply);
  }

  /** From now on errors are answered at once, without looking up the database. */
  public void failAtOnce() {
    response.failAtOnce();
  }

  /**
   * Answers without the rest of the body. A connection of HTTP/1 ends with such an answer; over
   * HTTP/2, where other requests share it, the stream is reset when the client has had time to
   * read.
   */
  void leaveBody() {
    if (request.version() == HttpVersion.HTTP_2) {
      long patience = context.owner().setTimer(LEFT_BODY_MILLIS, timer -> cut());
      request.end().onComplete(ended -> context.owner().cancelTimer(patience));
    }
  }

  /** As {@link Response#writeHead}. */
  void writeHead(int status, CharSequence contentType, List<Reply.Header> headers) {
    response.writeHead(status, contentType, headers);
  }

  /** Sets the status and the headers of a body that is written part by part. */
  public void writeStreamHead(int status, CharSequence contentType, List<Reply.Header> headers) {
    response.writeStreamHead(status, contentType, headers);
  }

  /** Sends the head of a streamed body before its first part. */
  public void sendHead() {
    response.sendHead();
  }

  /**
   * Answers an error, or that the database does not exist; resets the connection if an answer has
   * begun. It is not a failure if the client left before its answer was begun.
   */
  public void fail(Throwable failure) {
    response.fail(failure);
  }

  /** Notes that the answer lasts as long as its client likes: how long says nothing. */
  public void beginsFeed() {
    isFeed = true;
    encoding.leavePlain();
  }

  boolean isFeed() {
    return isFeed;
  }

  /** Notes that a streamed answer has been handed over completely. */
  public void streamed() {
    finished(response().getStatusCode(), response().bytesWritten());
  }

  /**
   * Runs {@code action} when the client gives the request up, even if that is after the answer.
   * Replaces an action given earlier.
   */
  public void whenLeft(Runnable action) {
    AtomicBoolean left = hasLeft;
    Runnable leave =
        () -> {
          left.set(true);
          action.run();
        };
    response().closeHandler(none -> leave.run());
    response().exceptionHandler(failure -> leave.run());
  }

  /**
   * Whether the client has left already. Handlers that are set later are not called, so check this
   * before beginning an answer after work on another thread.
   */
  public boolean isAbandoned() {
    return response().closed();
  }

  /** Notes that the client left before its answer was complete. */
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

  /** Ends the answer such that the client sees an error and not a regular end. */
  void reset() {
    finished(response().getStatusCode(), response().bytesWritten());
    cut();
  }

  /**
   * Closes the connection; over HTTP/2, where other requests share it, only this request's stream.
   */
  void cut() {
    if (request.version() == HttpVersion.HTTP_2) {
      if (!isAbandoned()) {
        connection.resets(request.streamId());
      }
      response().reset();
    } else {
      request.connection().close();
    }
  }

  /** Returns the accounts of the memory that clients make the server hold. */
  public ClientMemory memory() {
    return loop.memory;
  }

  /** Returns what the request holds of that memory. */
  public HeldMemory held() {
    if (held == null) {
      held = new HeldMemory(loop.memory, context, patience(), () -> ClientAddress.of(this));
    }
    return held;
  }

  /** Returns what counts what the body is parsed into. */
  public ParsedMemory parsing() {
    return held().parsing();
  }

  /**
   * Parses the body, or a part of it, on a reader's thread. If what is made of it finds no room,
   * that is waited for, and it is parsed anew.
   *
   * @param memory counts what the work makes
   */
  public <T> Future<T> parse(ParsedMemory memory, Callable<T> work) {
    return work(work)
        .recover(
            failure ->
                memory.missing() > 0
                    ? held().parsedGrows(memory).compose(there -> parse(memory, work))
                    : Future.failedFuture(failure));
  }

  /** Releases what the request held, and logs the request. */
  void finished(int status, long bodyBytes) {
    if (held != null) {
      held.giveBack();
    }
    encoding.end();
    if (inUse && status != SWITCHING_PROTOCOLS) {
      inUse = false;
      connection.end(request::isEnded);
    }
    loop.answered(this, status, bodyBytes);
    timing.answered(this, status);
  }

  /**
   * Who asks, and how that is known.
   *
   * @param session as whom the client was let in, and for how long
   * @param handler CouchDB's name for the way of logging in; empty without a log-in
   * @param renewedCookie the value of a {@code Set-Cookie} that prolongs the session, if it is time
   */
  public record Identity(
      Session session, Optional<String> handler, Optional<String> renewedCookie) {
    public static final Identity ANONYMOUS = withoutLogIn(UserContext.ANONYMOUS);

    public static Identity withoutLogIn(UserContext user) {
      return new Identity(Session.of(user), Optional.empty(), Optional.empty());
    }

    public static Identity of(Session session, String handler) {
      return new Identity(session, Optional.of(handler), Optional.empty());
    }

    public Identity renewing(String cookie) {
      return new Identity(session, handler, Optional.of(cookie));
    }

    public UserContext user() {
      return session.user();
    }
  }
}
