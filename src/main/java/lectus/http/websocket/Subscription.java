package lectus.http.websocket;

import io.vertx.core.Future;
import java.util.Optional;
import lectus.changes.page.FeedEnd;
import lectus.changes.page.FeedSink;
import lectus.changes.page.ResumePoint;
import lectus.changes.page.Rows;
import lectus.database.DatabaseName;
import lectus.error.LectusError;
import lectus.http.limits.PageMemory;
import lectus.http.websocket.ClientMessage.Subscribe;
import lectus.http.websocket.ServerMessage.CaughtUp;
import lectus.http.websocket.ServerMessage.Ended;
import lectus.http.websocket.ServerMessage.Heartbeat;
import lectus.http.websocket.ServerMessage.Left;
import lectus.http.websocket.ServerMessage.Row;

/**
 * One subscription from its first row to its end. It takes rows from its feed while its client has
 * credits for them and the socket has room; all others wait in the store.
 */
final class Subscription<P extends ResumePoint<P>>
    implements FeedSink<P>, SubscriptionQueue.Reader {
  /** How a subscription begins that is to show what comes from now on. */
  private static final String NOW = "now";

  private final ChangesSession session;
  private final SubscriptionQueue turns;
  private final String id;
  private final FilterBudget.Share filter;
  private final Optional<DatabaseName> database;
  private final Credits credits;
  private final CaughtUpNotice caughtUp;
  private final PageMemory memory;
  private SubscriptionFeeds.Feed feed;
  private String at;
  private final boolean resumes;
  private boolean opened;
  private boolean ending;
  private boolean behind = true;
  private boolean lacksMemory;
  private Runnable readAgain;

  /**
   * @param filter is released at the end
   * @param database the only one, if there is only one
   * @param since where it begins
   */
  Subscription(
      ChangesSession session,
      SubscriptionQueue turns,
      Subscribe request,
      FilterBudget.Share filter,
      Optional<DatabaseName> database,
      String since) {
    this.session = session;
    this.turns = turns;
    this.id = request.id();
    this.filter = filter;
    this.database = database;
    this.at = since;
    this.resumes = !since.equals("0") && !since.equals(NOW);
    this.credits = new Credits(request.terms().credits());
    this.caughtUp = new CaughtUpNotice(session, this::sayCaughtUp);
    this.memory = new PageMemory(session.pages());
  }

  void feedFrom(SubscriptionFeeds.Feed source) {
    feed = source;
  }

  /**
   * Takes no more rows, even of a page being read; reports where another subscription resumes. Only
   * the store knows where a subscription begins, so one that is still opening ends when that is
   * known.
   */
  void end() {
    ending = true;
    if (opened) {
      finish();
    }
  }

  /** Ends it, unless only the store, which is not waited for, knows where it begins. */
  void stop() {
    if (opened || !at.equals(NOW)) {
      finish();
    }
  }

  private void finish() {
    at = feed.reached().orElse(at);
    close();
    session.forget(id);
    session.say(new Ended(id, at));
  }

  /** Whether its client has asked for its end. */
  boolean isEnding() {
    return ending;
  }

  void close() {
    feed.close();
    release();
  }

  private void release() {
    session.ended();
    filter.ended();
    caughtUp.cancel();
    memory.noneComes();
    readAgain = null;
    turns.giveUp(this);
  }

  boolean countsCredits() {
    return credits.areCounted();
  }

  /** Returns false, and changes nothing, if they were too many. */
  boolean addCredits(long rows) {
    boolean added = credits.add(rows);
    if (added && readAgain != null) {
      turns.await(this);
    }
    return added;
  }

  @Override
  public void begin(P from) {
    opened = true;
    at = from.text();
    if (resumes && at.equals("0")) {
      // The client knows an earlier life of the database, which is gone.
      database.ifPresent(name -> session.say(new Left(id, name.text(), at)));
    }
    if (ending) {
      end();
    } else {
      turns.tryTake(this);
    }
  }

  @Override
  public long room() {
    boolean hasTurn = behind ? turns.has(this) : !session.isFull();
    if (!hasTurn || credits.left() == 0) {
      return 0;
    }
    lacksMemory = !memory.hasRoom();
    return lacksMemory ? 0 : credits.left();
  }

  @Override
  public boolean lacksRequestsOnly() {
    return credits.left() == 0 && !session.isFull();
  }

  @Override
  public boolean hasMemoryFor(Rows<P> rows, int from, int to) {
    return memory.hasRoomFor(rows.bytes(from, to));
  }

  @Override
  public void whenRoom(Runnable again) {
    behind = true;
    readAgain = again;
    if (credits.left() == 0) {
      turns.giveUp(this);
    } else if (lacksMemory) {
      lacksMemory = false;
      turns.giveUp(this);
      session.afterMillis(PageMemory.RETRY_MILLIS, this::awaitTurn);
    } else {
      turns.await(this);
    }
  }

  private void awaitTurn() {
    if (readAgain != null && credits.left() > 0) {
      turns.await(this);
    }
  }

  @Override
  public void read() {
    Runnable again = readAgain;
    readAgain = null;
    again.run();
  }

  @Override
  public void rows(Rows<P> rows, int from, int to) {
    caughtUp.rowsCame();
    int bytes = rows.bytes(from, to);
    Future<Void> last = Future.succeededFuture();
    for (int row = from; row < to; row++) {
      last = send(rows, row);
    }
    // Counted only now: if sending fails, nobody would release it.
    memory.sends(bytes);
    last.onComplete(sent -> memory.taken(bytes));
  }

  @Override
  public void readOn() {
    behind = true;
    memory.noneComes();
    turns.giveUp(this);
    turns.tryTake(this);
  }

  private Future<Void> send(Rows<P> rows, int row) {
    at = rows.at(row).text();
    String name = database.orElseGet(() -> rows.database(row)).text();
    if (rows.isLeft(row)) {
      return session.say(new Left(id, name, at));
    } else {
      credits.take(1);
      return session.say(new Row(id, name, at, rows.json(), rows.start(row), rows.end(row)));
    }
  }

  @Override
  public void caughtUp(P point) {
    at = point.text();
    behind = false;
    memory.noneComes();
    turns.giveUp(this);
    caughtUp.reached();
  }

  private void sayCaughtUp() {
    session.say(new CaughtUp(id, at));
  }

  @Override
  public void heartbeat(P point) {
    at = point.text();
    if (!session.isFull()) {
      session.say(new Heartbeat(id, at));
    }
  }

  @Override
  public void end(FeedEnd reason, P point, long pending) {
    at = point.text();
    release();
    if (reason instanceof FeedEnd.NotAllowed refused) {
      failed(refused.why());
      return;
    }
    if (reason instanceof FeedEnd.DatabaseDeleted) {
      database.ifPresent(name -> session.say(new Left(id, name.text(), at)));
    }
    session.forget(id);
    session.say(new Ended(id, at));
  }

  @Override
  public void fail(Throwable failure) {
    release();
    failed(session.errorOf(failure));
  }

  private void failed(LectusError error) {
    session.forget(id);
    session.say(new ServerMessage.Failed(Optional.of(id), true, error));
  }

  /**
   * Tells a client that a subscription has caught up: at once, but not after every row of a busy
   * database; then the last notice comes within a second.
   */
  private static final class CaughtUpNotice {
    private static final long INTERVAL_MILLIS = 1_000;

    private final ChangesSession session;
    private final Runnable say;
    private boolean news = true;
    private boolean reached;
    private boolean resting;
    private boolean cancelled;

    CaughtUpNotice(ChangesSession session, Runnable say) {
      this.session = session;
      this.say = say;
    }

    void rowsCame() {
      news = true;
      reached = false;
    }

    void reached() {
      reached = true;
      sayIfDue();
    }

    void cancel() {
      cancelled = true;
    }

    private void sayIfDue() {
      if (news && reached && !resting && !cancelled) {
        news = false;
        resting = true;
        session.afterMillis(INTERVAL_MILLIS, this::rested);
        say.run();
      }
    }

    private void rested() {
      resting = false;
      sayIfDue();
    }
  }
}
