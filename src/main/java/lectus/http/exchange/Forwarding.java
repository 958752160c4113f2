package lectus.http.exchange;

import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.NetSocket;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.DatabaseNotifications.Listener;
import lectus.changes.page.Registration;
import lectus.changes.page.SessionNotifications;
import lectus.changes.page.TouchedShards;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.database.Whereabouts.Moved;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.Headers;
import lectus.http.Reply;
import lectus.http.Signatures;
import lectus.http.client.HttpCaller;
import lectus.http.limits.RequestThreads.Kind;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes requests for a database that has moved on to its new place, and the answers back: bodies,
 * feeds and WebSockets, as they are, at the pace of the slower side. For one event loop.
 *
 * <p>Who asks is known here, and the new place is told so in CouchDB's headers of proxies, signed
 * with the secret of the move. What a client sends of these, or to log in, is not passed on.
 */
public final class Forwarding {
  private static final Logger LOG = LoggerFactory.getLogger(Forwarding.class);

  /** Bytes that may wait in each direction. */
  private static final int WAITING_BYTES = 64 << 10;

  /** The same of a feed or a WebSocket, of which there may be many. */
  private static final int WAITING_BYTES_OF_FEED = 16 << 10;

  /** A request is passed on so many times at most. */
  private static final int MAX_HOPS = 4;

  private static final String HOP = "1.1 lectus";
  private static final int SWITCHING_PROTOCOLS = 101;
  private static final int NO_CONTENT = 204;
  private static final int NOT_MODIFIED = 304;

  private static final String EVENTS = "eventsource";
  private static final Set<String> FEEDS = Set.of("longpoll", "continuous", "live", EVENTS);

  /** For how long a feed of changes is silent at most, unless its client wants that. */
  private static final long USUAL_SILENCE_MILLIS = 60_000;

  private static final long LONGEST_SILENCE_MILLIS = Duration.ofDays(1).toMillis();

  private final HttpCaller caller;
  private final SessionNotifications admissions;
  private final DatabaseNotifications events;

  /** Those that end when the server stops. */
  private final Set<Passing> feeds = Collections.newSetFromMap(new IdentityHashMap<>());

  public Forwarding(
      HttpCaller caller, SessionNotifications admissions, DatabaseNotifications events) {
    this.caller = caller;
    this.admissions = admissions;
    this.events = events;
  }

  /**
   * Passes a request on, unless its body was read, or it was read to where a WebSocket would begin:
   * then its client is asked to repeat it.
   */
  void passLate(Exchange exchange, Moved to) {
    if (exchange.hasBody() || new WebSocketUpgrade(exchange).isWanted()) {
      exchange.reply(
          Reply.error(
              new LectusError.Unavailable(
                  "The database has just moved to " + to.place() + ". Ask again.")));
    } else {
      exchange.guarded(() -> pass(exchange, to));
    }
  }

  /**
   * Passes a request on.
   *
   * @throws LectusException {@code not_found}: it comes back ever again; {@code forbidden}: nobody
   *     can vouch for its user
   */
  void pass(Exchange exchange, Moved to) {
    long hops =
        exchange.request().headers().getAll(Headers.VIA).stream()
            .flatMap(line -> Stream.of(line.split(",")))
            .filter(hop -> hop.strip().equals(HOP))
            .count();
    if (hops >= MAX_HOPS) {
      throw LectusException.notFound(
          "The database has moved to " + to.place() + ", and from there on, in a circle.");
    }
    new Passing(exchange, to).start();
  }

  /** Ends feeds and WebSockets: their clients come back to another server. */
  public void endFeeds() {
    List.copyOf(feeds).forEach(Passing::cut);
  }

  /** One request on its way, and its answer. */
  private final class Passing {
    private final Exchange exchange;
    private final HttpServerRequest in;
    private final HttpServerResponse out;
    private final Moved to;

    private final boolean isSocket;
    private final boolean isFeed;

    /** In which time the new place shows that it is there, beside the time for a request. */
    private long silenceMillis;

    private final MultiMap headers;
    private HttpClientRequest there;

    /** Of a feed: what may end it. */
    private final List<Registration> watched = new ArrayList<>();

    /** Whether the body was passed on, or nobody wants the rest. */
    private boolean isSent;

    private boolean isOver;

    private long timer = -1;

    /** The client's side, once both speak to each other. */
    private Optional<NetSocket> joined = Optional.empty();

    /** How many parts have moved, and how many at the last look. */
    private long parts;

    private long partsBefore;

    Passing(Exchange exchange, Moved to) {
      this.exchange = exchange;
      this.in = exchange.request();
      this.out = exchange.response();
      this.to = to;
      boolean isOfChanges =
          exchange.target().segments().size() > 1 && exchange.segment(1).equals("_changes");
      WebSocketUpgrade upgrade = new WebSocketUpgrade(exchange);
      this.isSocket = isOfChanges && upgrade.isWanted() && in.version() != HttpVersion.HTTP_2;
      if (isSocket) {
        upgrade.check();
      }
      String feed = isOfChanges ? exchange.query().text("feed").orElse("") : "";
      this.isFeed = isSocket || FEEDS.contains(feed);
      this.silenceMillis = isOfChanges && !isSocket ? usualSilenceMillis() : 0;
      this.headers = PassedHeaders.there(exchange, to, isSocket);
    }

    /** A feed has a heartbeat, or ends for want of changes. */
    private long usualSilenceMillis() {
      Optional<Long> heartbeat = millis("heartbeat");
      if (heartbeat.isPresent()) {
        return Math.min(LONGEST_SILENCE_MILLIS, heartbeat.get());
      }
      return isFeed
          ? Math.min(USUAL_SILENCE_MILLIS, millis("timeout").orElse(USUAL_SILENCE_MILLIS))
          : USUAL_SILENCE_MILLIS;
    }

    private Optional<Long> millis(String parameter) {
      return exchange
          .query()
          .text(parameter)
          .filter(it -> it.matches("[0-9]{1,12}"))
          .map(Long::parseLong);
    }

    void start() {
      exchange.keepUnread();
      if (exchange.hasBody()) {
        in.exceptionHandler(broken -> unreadable(Failures.ofReading(broken)));
      } else {
        sent();
      }
      if (exchange.isAbandoned()) {
        exchange.abandoned();
        return;
      }
      if (isFeed) {
        feeds.add(this);
        exchange.beginsFeed();
        watched.add(
            new WatchedSession(
                admissions, exchange.context(), exchange.identity().session(), why -> cut()));
        known().ifPresent(db -> watched.add(events.listen(db, new NameListener())));
      }
      lookLater();
      exchange
          .held()
          .passes(2L * waitingBytes())
          .compose(
              room ->
                  caller.begin(in.method(), URI.create(to.place()), target(), exchange.context()))
          .onComplete(request -> step(() -> send(request)), this::failed);
    }

    private int waitingBytes() {
      return isFeed ? WAITING_BYTES_OF_FEED : WAITING_BYTES;
    }

    /** Returns what follows the name of the database. */
    private String target() {
      String path = exchange.rawPath();
      int name = 0;
      while (path.charAt(name) == '/') {
        name++;
      }
      int rest = path.indexOf('/', name);
      int query = exchange.uri().indexOf('?');
      return (rest < 0 ? "" : path.substring(rest))
          + (query < 0 ? "" : exchange.uri().substring(query));
    }

    private void send(HttpClientRequest request) {
      there = request;
      there.exceptionHandler(this::failed);
      if (isOver) {
        reset();
        return;
      }
      there.setWriteQueueMaxSize(waitingBytes());
      there.headers().addAll(headers);
      if (isSocket) {
        there.connect().onComplete(this::answer, this::failed);
        return;
      }
      there.response().onComplete(this::answer, this::failed);
      if (isSent) {
        there.end();
        exchange.becomesNoSocket();
      } else {
        sendBody();
      }
    }

    /** A client that waits for leave to send its body gets that of the new place. */
    private void sendBody() {
      String length = in.getHeader(HttpHeaders.CONTENT_LENGTH);
      if (length == null) {
        there.setChunked(true);
      } else {
        there.putHeader(HttpHeaders.CONTENT_LENGTH, length);
      }
      if (FlowingBody.waitsForLeave(exchange)) {
        there.putHeader(HttpHeaders.EXPECT, HttpHeaders.CONTINUE);
        there.continueHandler(leave -> out.writeContinue());
        there.writeHead();
      }
      in.handler(
          part -> {
            if (!isSent) {
              parts++;
              there.write(part);
              if (there.writeQueueFull()) {
                in.pause();
                there.drainHandler(room -> in.resume());
              }
            }
          });
      in.endHandler(
          end -> {
            if (!isSent) {
              sent();
              there.end();
            }
          });
      StreamWindow.widen(in);
      in.resume();
    }

    /** What is no HTTP is an error as long as a body is read, and a departure behind it. */
    private void sent() {
      isSent = true;
      exchange.whenLeft(this::left);
    }

    private void unreadable(Throwable why) {
      if (why instanceof LectusException) {
        failed(why);
      } else {
        left();
      }
    }

    private void answer(HttpClientResponse answer) {
      if (isOver) {
        there.reset();
      } else {
        step(() -> sendBack(answer));
      }
    }

    private void sendBack(HttpClientResponse answer) {
      if (answer.statusCode() == SWITCHING_PROTOCOLS) {
        join(answer);
        return;
      }
      boolean isWhole = isSent;
      if (!isSent) {
        sent();
        FlowingBody.decline(exchange);
      } else if (isSocket) {
        exchange.becomesNoSocket();
      }
      writeHead(answer);
      answer.exceptionHandler(this::failed);
      answer.handler(
          part -> {
            if (!isOver) {
              parts++;
              out.write(part);
              if (out.writeQueueFull()) {
                answer.pause();
                out.drainHandler(room -> answer.resume());
              }
            }
          });
      answer.endHandler(
          end -> {
            if (!isOver) {
              over();
              exchange.sends(out.end());
              exchange.streamed();
            }
            if (!isWhole) {
              there.reset();
            }
          });
    }

    private void writeHead(HttpClientResponse answer) {
      int status = answer.statusCode();
      String type = answer.getHeader(HttpHeaders.CONTENT_TYPE);
      String length = answer.getHeader(HttpHeaders.CONTENT_LENGTH);
      List<Reply.Header> back = PassedHeaders.back(exchange, to, answer.headers());
      out.setWriteQueueMaxSize(waitingBytes());
      if (length == null && status != NO_CONTENT && status != NOT_MODIFIED) {
        exchange.writeStreamHead(status, type, back);
      } else {
        exchange.writeHead(status, type, back);
        if (length != null) {
          out.putHeader(HttpHeaders.CONTENT_LENGTH, length);
        }
      }
      if (isFeed && !exchange.isHead()) {
        exchange.sendHead();
      }
    }

    /** From now on both sides speak to each other. */
    private void join(HttpClientResponse answer) {
      PassedHeaders.ofSocket(exchange, answer.headers());
      new WebSocketUpgrade(exchange).chooseOfSeveral();
      NetSocket place = answer.netSocket();
      place.pause();
      in.toNetSocket()
          .onComplete(
              client -> {
                joined = Optional.of(client);
                exchange.upgraded();
                there.exceptionHandler(closed -> {});
                client.closeHandler(gone -> over());
                client.setWriteQueueMaxSize(waitingBytes());
                place.setWriteQueueMaxSize(waitingBytes());
                client.pipeTo(place).onComplete(ended -> place.close());
                speak(place, client);
              },
              this::failed);
    }

    /** The new place pings, as this server would. */
    private void speak(NetSocket place, NetSocket client) {
      int idleSeconds = exchange.settings().webSockets().idleTimeoutSeconds();
      silenceMillis = Duration.ofSeconds(idleSeconds).toMillis();
      place.handler(
          part -> {
            parts++;
            client.write(part);
            if (client.writeQueueFull()) {
              place.pause();
              client.drainHandler(room -> place.resume());
            }
          });
      place.endHandler(end -> client.end());
      place.exceptionHandler(broken -> client.close());
      place.resume();
    }

    /**
     * The client may take its time to send and to read. The new place has the time of a request of
     * its own, and as much again, beside the silence of a feed.
     */
    private void lookLater() {
      long silence = 2 * exchange.patience().toMillis() + silenceMillis;
      long until = isFeed ? Math.max(1, to.millisLeft()) : silence;
      timer = exchange.context().owner().setTimer(Math.min(silence, until), fired -> look());
    }

    private void look() {
      boolean isFull = joined.map(NetSocket::writeQueueFull).orElseGet(out::writeQueueFull);
      boolean isTheirTurn = there == null || (isSent && !isFull);
      if (isFeed && !isStillThere()) {
        cut();
      } else if (!isTheirTurn || parts != partsBefore) {
        partsBefore = parts;
        lookLater();
      } else if (joined.isPresent()) {
        cut();
      } else {
        failed(new TimeoutException("nothing came"));
      }
    }

    /** The time may be over, and the name of another database, as far as this server knows. */
    private boolean isStillThere() {
      return to.millisLeft() > 0 && known().map(this::isThatWay).orElse(true);
    }

    private Optional<DatabaseHandle> known() {
      return exchange.loop().catalogue().remembered(exchange.databaseName());
    }

    private boolean isThatWay(DatabaseHandle db) {
      return db.passesTo().equals(Optional.of(to));
    }

    /** Hears that the name may have been given up, here or at another server of this place. */
    private final class NameListener implements Listener {
      @Override
      public void updated(Sequence highest, TouchedShards shards) {}

      @Override
      public void deleted() {
        Dispatch.post(exchange.context(), Passing.this::lookAnew);
      }
    }

    private void lookAnew() {
      if (isOver) {
        return;
      }
      exchange
          .read(Kind.REQUEST, () -> exchange.loop().catalogue().locate(exchange.databaseName()))
          .onSuccess(
              now -> {
                if (now.filter(this::isThatWay).isEmpty()) {
                  cut();
                }
              });
    }

    private void step(Runnable next) {
      try {
        next.run();
      } catch (RuntimeException | Error e) {
        over();
        reset();
        exchange.fail(e);
      }
    }

    private void failed(Throwable failure) {
      if (isOver) {
        return;
      }
      over();
      reset();
      if (!isSent) {
        FlowingBody.decline(exchange);
      } else if (joined.isEmpty()) {
        exchange.becomesNoSocket();
      }
      if (failure instanceof LectusException) {
        exchange.fail(failure);
        return;
      }
      exchange
          .label()
          .on(LOG.atInfo())
          .log("{} does not answer: {}", to.place(), failure.toString());
      exchange.fail(
          LectusException.unavailable(
              "The database has moved to " + to.place() + ", which does not answer just now."));
    }

    private void left() {
      if (!isOver && joined.isEmpty()) {
        over();
        reset();
        exchange.abandoned();
      }
    }

    /** Ends a feed such that its client asks again. */
    void cut() {
      if (joined.isPresent()) {
        joined.get().close();
      } else if (!isOver) {
        over();
        reset();
        exchange.reset();
      }
    }

    private void over() {
      isOver = true;
      exchange.context().owner().cancelTimer(timer);
      feeds.remove(this);
      watched.forEach(Registration::close);
    }

    private void reset() {
      if (there != null) {
        there.reset();
      }
    }
  }

  /** Which headers pass, and which belong to one of the two connections or servers. */
  private static final class PassedHeaders {
    private static final Set<String> OF_CONNECTION =
        Set.of(
            "connection",
            "keep-alive",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "content-length",
            "http2-settings");

    private static final Set<String> OF_CLIENT =
        Set.of(
            "host",
            "authorization",
            "cookie",
            "origin",
            "expect",
            "forwarded",
            "x-couch-request-id");

    private static final Set<String> OF_NEW_PLACE =
        Set.of("set-cookie", "strict-transport-security", "content-type", "location", "date");

    private static final List<String> KINDS =
        List.of("proxy-", "x-auth-couchdb-", "x-forwarded-", "sec-fetch-", "access-control-");

    private static final String OF_SOCKET = "sec-websocket-";

    private PassedHeaders() {}

    private static boolean passes(String header, Set<String> ofServer, MultiMap all) {
      String name = header.toLowerCase(Locale.ROOT);
      return !OF_CONNECTION.contains(name)
          && !ofServer.contains(name)
          && KINDS.stream().noneMatch(name::startsWith)
          && all.getAll(HttpHeaders.CONNECTION).stream()
              .flatMap(line -> Stream.of(line.split(",")))
              .noneMatch(named -> named.strip().equalsIgnoreCase(name));
    }

    /** Returns those of a request that is passed on. */
    static MultiMap there(Exchange exchange, Moved to, boolean isSocket) {
      MultiMap sent = exchange.request().headers();
      MultiMap there = HttpHeaders.headers();
      for (Map.Entry<String, String> header : sent) {
        if (passes(header.getKey(), OF_CLIENT, sent)) {
          there.add(header.getKey(), header.getValue());
        }
      }
      there.add(Headers.VIA, HOP);
      there.set(Headers.REQUEST_ID, exchange.id());
      there.set(Headers.FORWARDED_FOR, ClientAddress.of(exchange));
      if (isSocket) {
        there.set(HttpHeaders.CONNECTION, HttpHeaders.UPGRADE);
        there.set(HttpHeaders.UPGRADE, HttpHeaders.WEBSOCKET);
      }
      Signatures.vouch(exchange.user(), to.secret()).forEach(there::set);
      return there;
    }

    /** Returns those of an answer, beside its type and length. */
    static List<Reply.Header> back(Exchange exchange, Moved to, MultiMap answered) {
      List<Reply.Header> back = new ArrayList<>();
      for (String name : answered.names()) {
        if (passes(name, OF_NEW_PLACE, answered)) {
          back.add(new Reply.Header(name, String.join(", ", answered.getAll(name))));
        }
      }
      String location = answered.get(HttpHeaders.LOCATION);
      if (location != null) {
        back.add(new Reply.Header(Headers.LOCATION, seenHere(exchange, to, location)));
      }
      return back;
    }

    /** Returns the URL under which the client finds what the new place says where it is. */
    private static String seenHere(Exchange exchange, Moved to, String location) {
      String inside = to.place() + '/';
      return location.startsWith(inside)
          ? PublicUrl.location(exchange, exchange.segment(0))
              + location.substring(to.place().length())
          : location;
    }

    /** Sets those of an answer that opens a WebSocket. */
    static void ofSocket(Exchange exchange, MultiMap answered) {
      HttpServerResponse out = exchange.response();
      for (Map.Entry<String, String> header : answered) {
        if (header.getKey().toLowerCase(Locale.ROOT).startsWith(OF_SOCKET)) {
          out.putHeader(header.getKey(), header.getValue());
        }
      }
      out.putHeader(HttpHeaders.CONNECTION, HttpHeaders.UPGRADE);
      out.putHeader(HttpHeaders.UPGRADE, HttpHeaders.WEBSOCKET);
      out.putHeader(Headers.SERVER, exchange.loop().serverHeader());
      out.putHeader(Headers.REQUEST_ID, exchange.id());
    }
  }
}
