package lectus.http.websocket;

import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import lectus.changes.multi.StorePosition;
import lectus.changes.page.FeedPosition;
import lectus.changes.page.Registration;
import lectus.error.LectusError;
import lectus.http.limits.ClientMemory;
import lectus.http.limits.MemoryAccount;
import lectus.http.websocket.ClientMessage.Credit;
import lectus.http.websocket.ClientMessage.Malformed;
import lectus.http.websocket.ClientMessage.Subscribe;
import lectus.http.websocket.ClientMessage.Unsubscribe;
import lectus.http.websocket.Scope.ManyDatabases;
import lectus.http.websocket.Scope.OneDatabase;
import lectus.json.JsonBuffer;

/**
 * One client's conversation in {@code lectus.changes.v1}: its subscriptions, by the ids that it
 * chose. On the connection's event loop.
 */
public final class ChangesSession implements TextSocket.Listener {
  /** The WebSocket subprotocol, which docs/lectus.changes.v1.md describes. */
  public static final String PROTOCOL = "lectus.changes.v1";

  /**
   * The most subscriptions that may be opening. At that number no more messages are read; otherwise
   * a client that keeps subscribing and unsubscribing would pile up requests to the store.
   */
  private static final int MAX_OPENING = 16;

  private static final int SOON_SECONDS = 1;

  private final TextSocket socket;
  private final SubscriptionFeeds feeds;
  private final int maxSubscriptions;
  private final Function<Throwable, LectusError> errors;
  private final OpenSessions open;
  private final MemoryAccount pages;
  private final SubscriptionQueue turns;
  private final FilterBudget filters;
  private final SubscriptionQuota quota;
  private final Map<String, Subscription<?>> subscriptions = new HashMap<>();
  private Registration watching = () -> {};
  private int opening;

  /**
   * @param maxSubscriptions at a time
   * @param errors turns a failure into the error for the client
   * @param memory counts filters, and rows until the client has read them
   * @param quota of the client's user
   */
  public ChangesSession(
      TextSocket socket,
      SubscriptionFeeds feeds,
      int maxSubscriptions,
      Function<Throwable, LectusError> errors,
      OpenSessions open,
      ClientMemory memory,
      SubscriptionQuota quota) {
    this.quota = quota;
    this.socket = socket;
    this.feeds = feeds;
    this.maxSubscriptions = maxSubscriptions;
    this.errors = errors;
    this.open = open;
    this.pages = memory.pages();
    this.filters = new FilterBudget(memory.filters());
    this.turns = new SubscriptionQueue(socket);
  }

  /** Starts to read the client's messages. */
  public void start() {
    socket.start(this);
    open.add(this);
  }

  @Override
  public void received(byte[] utf8) {
    ClientMessage message = ClientMessageParser.parse(utf8);
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

  private void subscribe(Subscribe request) {
    if (subscriptions.containsKey(request.id())) {
      refuse(request.id(), "duplicate_id", "There is a subscription of this id, which goes on.");
    } else if (subscriptions.size() >= maxSubscriptions) {
      refuse(
          request.id(),
          "too_many_subscriptions",
          "A socket may have " + maxSubscriptions + " subscriptions at a time.");
    } else if (!quota.begin().getAsBoolean()) {
      refuse(Optional.of(request.id()), tooMany());
    } else {
      long bytes = request.terms().rows().memory() + request.scope().memory();
      filters
          .take(bytes)
          .ifPresentOrElse(
              filter -> subscribe(request, filter), () -> refuseFilter(request.id(), bytes));
    }
  }

  private LectusError tooMany() {
    return new LectusError.TooManyRequests(
        "A user may have " + quota.most() + " subscriptions at a time.", SOON_SECONDS);
  }

  /** Notes that a subscription is over. */
  void ended() {
    quota.end().run();
  }

  private void refuseFilter(String id, long bytes) {
    ended();
    if (filters.allows(bytes)) {
      refuse(Optional.of(id), filters.refusal());
    } else {
      refuse(
          id,
          "filters_too_large",
          "The filters of a socket may take " + FilterBudget.MAX_BYTES + " bytes of memory.");
    }
  }

  private void subscribe(Subscribe request, FilterBudget.Share filter) {
    if (request.scope() instanceof OneDatabase one) {
      subscribe(request, filter, one);
    } else if (request.scope() instanceof ManyDatabases many) {
      subscribe(request, filter, many);
    }
  }

  private void subscribe(Subscribe request, FilterBudget.Share filter, OneDatabase scope) {
    Subscription<FeedPosition> subscription =
        new Subscription<>(
            this, turns, request, filter, Optional.of(scope.name()), scope.since().text());
    opening(subscription, request.id());
    subscription.feedFrom(feeds.ofOne(scope, request.terms(), subscription, () -> opened(filter)));
  }

  private void subscribe(Subscribe request, FilterBudget.Share filter, ManyDatabases scope) {
    Subscription<StorePosition> subscription =
        new Subscription<>(this, turns, request, filter, Optional.empty(), scope.since().text());
    opening(subscription, request.id());
    subscription.feedFrom(feeds.ofMany(scope, request.terms(), subscription, () -> opened(filter)));
  }

  private void opening(Subscription<?> subscription, String id) {
    subscriptions.put(id, subscription);
    opening++;
    if (opening == MAX_OPENING) {
      socket.listen(false);
    }
  }

  private void opened(FilterBudget.Share filter) {
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
          "A subscription may have " + Credits.MOST + " credits at a time.");
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
    say(new ServerMessage.Failed(id, ended, error));
  }

  /**
   * Ends all subscriptions, each with its resume point, and asks the client to reconnect. One from
   * now on that is still opening has told its client nothing, and begins anew elsewhere.
   */
  public void stop() {
    List.copyOf(subscriptions.values()).forEach(Subscription::stop);
    closeAll();
    socket.close(CloseCode.GOING_AWAY, "The server stops.");
  }

  /**
   * Notes what is to be closed with the session.
   *
   * @param admission watches whether the client is still admitted
   */
  public void closeWithIt(Registration admission) {
    watching = admission;
  }

  /** Ends everything at once, because the client is not admitted any more. */
  public void dismiss(LectusError why) {
    closeAll();
    socket.close(CloseCode.POLICY_VIOLATION, why.reason());
  }

  @Override
  public void closed() {
    open.remove(this);
    watching.close();
    closeAll();
  }

  private void closeAll() {
    List<Subscription<?>> running = new ArrayList<>(subscriptions.values());
    subscriptions.clear();
    running.forEach(Subscription::close);
  }

  /** Removes a subscription that is over. */
  void forget(String id) {
    subscriptions.remove(id);
  }

  LectusError errorOf(Throwable failure) {
    return errors.apply(failure);
  }

  MemoryAccount pages() {
    return pages;
  }

  boolean isFull() {
    return socket.isFull();
  }

  void afterMillis(long millis, Runnable task) {
    socket.afterMillis(millis, task);
  }

  Future<Void> say(ServerMessage message) {
    JsonBuffer json = new JsonBuffer(message.sizeHint());
    message.writeTo(json);
    return socket.send(json.toBytes());
  }
}
