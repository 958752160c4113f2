package lectus.http.changes;

import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Function;
import lectus.changes.notify.ManyDatabases;
import lectus.changes.notify.StorePosition;
import lectus.changes.page.ChangesReader;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.FeedPosition;
import lectus.changes.page.FeedSink;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.changes.page.Registration;
import lectus.changes.page.ResumePoint;
import lectus.database.DatabaseName;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.UserUsage;
import lectus.http.changes.ClientMessage.Credit;
import lectus.http.changes.ClientMessage.Malformed;
import lectus.http.changes.ClientMessage.ManyNames;
import lectus.http.changes.ClientMessage.OneDatabase;
import lectus.http.changes.ClientMessage.Subscribe;
import lectus.http.changes.ClientMessage.Unsubscribe;
import lectus.http.changes.LiveListener.FeedTerms;
import lectus.http.changes.TextSocket.CloseCode;
import lectus.http.exchange.DesignFunctions;
import lectus.http.exchange.Dispatch;
import lectus.http.exchange.Failures;
import lectus.http.exchange.RequestObject;
import lectus.http.limits.ClientMemory;
import lectus.http.limits.MemoryAccount;
import lectus.json.JsonBuffer;
import lectus.metrics.RequestLabel;

/**
 * One client's conversation in {@code lectus.changes.v1}: its subscriptions, by the ids that it
 * chose. It lets a few of them at a time read pages, in turn, and none while the socket is full. So
 * the memory of a slow socket does not grow with its subscriptions, and a long history does not
 * delay the others. On the connection's event loop.
 */
public final class ChangesSession implements TextSocket.Listener {
  /** The WebSocket subprotocol, which docs/lectus.changes.v1.md describes. */
  static final String PROTOCOL = "lectus.changes.v1";

  /**
   * The most subscriptions that may be opening. At that number no more messages are read; otherwise
   * a client that keeps subscribing and unsubscribing would pile up requests to the store.
   */
  private static final int MAX_OPENING = 16;

  /** The most subscriptions that read at once: a page may hold some hundred kilobytes. */
  private static final int MAX_READING = 4;

  /**
   * The most bytes of all filters of one socket: selectors, ids, fields, and the names of many
   * databases. Enough for one message of the usual size, and for a thousand filters of a few
   * conditions each.
   */
  private static final long MAX_FILTER_BYTES = 4 << 20;

  private static final int SOON_SECONDS = 1;

  final TextSocket socket;
  private final Feeds feeds;
  private final int maxSubscriptions;
  private final RequestLabel request;
  private final OpenSessions open;
  private final MemoryAccount pages;
  private final MemoryAccount filters;
  final Quota quota;
  final Map<String, Subscription<?>> subscriptions = new HashMap<>();
  final Set<Subscription<?>> reading = new HashSet<>();
  private final Set<Subscription<?>> waiting = new LinkedHashSet<>();
  private Registration watching = () -> {};
  private int opening;
  private boolean awaitingDrain;
  private long filterBytes;

  /** The sessions of one event loop, which an orderly stop ends. */
  public static final class OpenSessions {
    private final Set<ChangesSession> sessions = new HashSet<>();
    private boolean stopping;

    /** Ends all sessions, and every one that begins from now on. */
    public void stop() {
      stopping = true;
      new ArrayList<>(sessions).forEach(ChangesSession::stop);
    }
  }

  /**
   * How many subscriptions the user of a socket may have, over all sockets of that user.
   *
   * @param most 0 for any number
   */
  record Quota(UserUsage usage, String user, int most) {
    private boolean begin() {
      return most == 0 || usage.subscribe(user, most);
    }

    void end() {
      if (most > 0) {
        usage.unsubscribe(user);
      }
    }
  }

  /**
   * What the subscriptions of one client listen with.
   *
   * @param client of a socket, which watches itself whether the client is still admitted
   */
  record Feeds(
      ChangesReader changes,
      ManyDatabases manyDatabases,
      DatabaseNotifications events,
      DesignFunctions functions,
      LiveFeeds ofLoop,
      FeedClient client) {

    /** Databases that a user may not read do not exist for that user. */
    private LiveStart<FeedPosition> open(OneDatabase scope, ChangesOptions options) {
      try {
        ChangesReader readable = changes.readBy(client.user());
        FeedOptions shown = options.compile();
        Function<FeedOptions, LiveStart<FeedPosition>> opening =
            it -> readable.live(scope.name(), it, scope.since(), events);
        if (options.function().isEmpty()) {
          return opening.apply(shown);
        }
        RequestObject request =
            RequestObject.of(
                List.of(scope.name().text(), "_changes"), options.query(), client.user());
        return functions.open(
            readable.request(scope.name()),
            options.function().get(),
            request,
            filter -> opening.apply(shown.filteredBy(filter)));
      } catch (LectusException e) {
        boolean isRefusal =
            e.error() instanceof LectusError.Forbidden
                || e.error() instanceof LectusError.Unauthorized;
        throw isRefusal ? LectusException.notFound("Database does not exist.") : e;
      }
    }

    private LiveStart<StorePosition> open(ManyNames scope, ChangesOptions options) {
      return manyDatabases.live(
          scope.compile(), options.compile(), scope.since(), client.user(), events);
    }

    /**
     * @param sink also gets the error if the feed cannot begin
     * @param opened is run when the store has answered, even if the subscription is over by then
     */
    private <P extends ResumePoint<P>> LiveListener<P> listen(
        FeedTerms terms, FeedSink<P> sink, Runnable opened, Callable<LiveStart<P>> opening) {
      LiveListener<P> listener = new LiveListener<>(ofLoop, client, sink, terms);
      Dispatch.inTime(client.patience(), client.readers(), client.context(), opening)
          .onComplete(done -> opened.run())
          .onComplete(listener::begin, listener::fail);
      return listener;
    }
  }

  /**
   * @param maxSubscriptions at a time
   * @param request for the log, if something fails
   * @param memory counts filters, and rows until the client has read them
   * @param quota of the client's user
   */
  ChangesSession(
      TextSocket socket,
      Feeds feeds,
      int maxSubscriptions,
      RequestLabel request,
      OpenSessions open,
      ClientMemory memory,
      Quota quota) {
    this.socket = socket;
    this.feeds = feeds;
    this.maxSubscriptions = maxSubscriptions;
    this.request = request;
    this.open = open;
    this.pages = memory.pages();
    this.filters = memory.filters();
    this.quota = quota;
  }

  void start() {
    socket.start(this);
    open.sessions.add(this);
    if (open.stopping) {
      stop();
    }
  }

  @Override
  public void received(byte[] utf8) {
    ClientMessage message = ClientMessage.parse(utf8);
    if (message instanceof Subscribe subscribe) {
      subscribe(subscribe);
    } else if (message instanceof Credit credit) {
      addCredits(credit);
    } else if (message instanceof Unsubscribe unsubscribe) {
      unsubscribe(unsubscribe.id());
    } else if (message instanceof Malformed malformed) {
      refuse(malformed.id(), malformed.error());
    }
  }

  private void subscribe(Subscribe wanted) {
    long bytes = wanted.options().memory() + wanted.scope().memory();
    boolean isTooLarge = bytes > MAX_FILTER_BYTES - filterBytes;
    if (subscriptions.containsKey(wanted.id())) {
      refuse(wanted.id(), "duplicate_id", "There is a subscription of this id, which goes on.");
    } else if (subscriptions.size() >= maxSubscriptions) {
      refuse(
          wanted.id(),
          "too_many_subscriptions",
          "A socket may have " + maxSubscriptions + " subscriptions at a time.");
    } else if (!quota.begin()) {
      String reason = "A user may have " + quota.most() + " subscriptions at a time.";
      refuse(Optional.of(wanted.id()), new LectusError.TooManyRequests(reason, SOON_SECONDS));
    } else if (bytes == 0 || (!isTooLarge && filters.tryReserve(bytes, filterBytes))) {
      filterBytes += bytes;
      begin(wanted, new FilterShare(bytes));
    } else {
      quota.end();
      if (isTooLarge) {
        refuse(
            wanted.id(),
            "filters_too_large",
            "The filters of a socket may take " + MAX_FILTER_BYTES + " bytes of memory.");
      } else {
        refuse(Optional.of(wanted.id()), filters.refusal().error());
      }
    }
  }

  private void begin(Subscribe wanted, FilterShare filter) {
    ChangesOptions options = wanted.options();
    if (wanted.scope() instanceof OneDatabase one) {
      Optional<DatabaseName> name = Optional.of(one.name());
      begin(wanted, filter, name, one.since().text(), () -> feeds.open(one, options));
    } else if (wanted.scope() instanceof ManyNames many) {
      Optional<DatabaseName> none = Optional.empty();
      begin(wanted, filter, none, many.since().text(), () -> feeds.open(many, options));
    }
  }

  private <P extends ResumePoint<P>> void begin(
      Subscribe wanted,
      FilterShare filter,
      Optional<DatabaseName> database,
      String since,
      Callable<LiveStart<P>> opens) {
    Subscription<P> subscription = new Subscription<>(this, wanted, filter, database, since);
    subscriptions.put(wanted.id(), subscription);
    opening++;
    if (opening == MAX_OPENING) {
      socket.listen(false);
    }
    subscription.feedFrom(feeds.listen(wanted.terms(), subscription, () -> opened(filter), opens));
  }

  private void opened(FilterShare filter) {
    filter.opened();
    if (opening == MAX_OPENING) {
      socket.listen(true);
    }
    opening--;
  }

  private void addCredits(Credit credit) {
    Subscription<?> subscription = subscriptions.get(credit.id());
    if (subscription == null) {
      refuseUnknown(credit.id());
    } else if (!subscription.countsCredits()) {
      refuse(credit.id(), "bad_request", "The subscription was begun without `credits`.");
    } else if (!subscription.addCredits(credit.rows())) {
      refuse(
          credit.id(),
          "too_many_credits",
          "A subscription may have " + Subscription.MAX_CREDITS + " credits at a time.");
    }
  }

  private void unsubscribe(String id) {
    Subscription<?> subscription = subscriptions.get(id);
    if (subscription == null || subscription.isEnding()) {
      refuseUnknown(id);
    } else {
      subscription.end();
    }
  }

  private void refuseUnknown(String id) {
    refuse(Optional.of(id), new LectusError.NotFound("There is no subscription of this id."));
  }

  private void refuse(String id, String error, String reason) {
    refuse(Optional.of(id), new LectusError.BadRequest(error, reason));
  }

  /** Answers an error of a message that has changed nothing. */
  private void refuse(Optional<String> id, LectusError error) {
    boolean ended = id.isPresent() && !subscriptions.containsKey(id.get());
    say(ServerMessage.failed(id, ended, error));
  }

  /**
   * Ends all subscriptions, each with its resume point, and asks the client to reconnect. One from
   * now on that is still opening has told its client nothing, and begins anew elsewhere.
   */
  private void stop() {
    List.copyOf(subscriptions.values()).forEach(Subscription::stop);
    closeAll();
    socket.close(CloseCode.GOING_AWAY, "The server stops.");
  }

  /**
   * Notes what is to be closed with the session.
   *
   * @param admission watches whether the client is still admitted
   */
  void closeWithIt(Registration admission) {
    watching = admission;
  }

  /** Ends everything at once, because the client is not admitted any more. */
  void dismiss(LectusError why) {
    closeAll();
    socket.close(CloseCode.POLICY_VIOLATION, why.reason());
  }

  @Override
  public void closed() {
    open.sessions.remove(this);
    watching.close();
    closeAll();
  }

  private void closeAll() {
    List<Subscription<?>> running = new ArrayList<>(subscriptions.values());
    subscriptions.clear();
    running.forEach(Subscription::close);
  }

  // For subscriptions.

  LectusError errorOf(Throwable failure) {
    return Failures.errorOf(failure, request);
  }

  MemoryAccount pages() {
    return pages;
  }

  Future<Void> say(JsonBuffer message) {
    return socket.send(message.toBytes());
  }

  /** Lets a subscription read at once if it may, and none waits for that. */
  void tryRead(Subscription<?> subscription) {
    if (waiting.isEmpty() && mayOneRead()) {
      reading.add(subscription);
    }
  }

  /** Calls {@link Subscription#read} when its turn comes. */
  void awaitTurn(Subscription<?> subscription) {
    reading.remove(subscription);
    waiting.add(subscription);
    handOutTurns();
  }

  /** Takes back a subscription's turn, or its place in the queue. */
  void giveUpTurn(Subscription<?> subscription) {
    reading.remove(subscription);
    waiting.remove(subscription);
    handOutTurns();
  }

  private boolean mayOneRead() {
    return reading.size() < MAX_READING && !socket.isFull();
  }

  private void handOutTurns() {
    while (!waiting.isEmpty() && mayOneRead()) {
      Subscription<?> next = waiting.iterator().next();
      waiting.remove(next);
      reading.add(next);
      next.read();
    }
    if (!waiting.isEmpty() && !awaitingDrain && socket.isFull()) {
      awaitingDrain = true;
      socket.whenDrained(
          () -> {
            awaitingDrain = false;
            handOutTurns();
          });
    }
  }

  /**
   * The memory of one subscription's filter. It is released when both the subscription and its
   * opening are over: the opening holds the filter even after the client has unsubscribed.
   */
  final class FilterShare {
    private final long bytes;
    private boolean opened;
    private boolean ended;
    private boolean givenBack;

    private FilterShare(long bytes) {
      this.bytes = bytes;
    }

    private void opened() {
      opened = true;
      settle();
    }

    void ended() {
      ended = true;
      settle();
    }

    private void settle() {
      if (opened && ended && !givenBack) {
        givenBack = true;
        filters.release(bytes, filterBytes);
        filterBytes -= bytes;
      }
    }
  }
}
