package lectus.http.changes;

import io.vertx.core.Future;
import java.util.Optional;
import lectus.changes.page.FeedEnd;
import lectus.changes.page.FeedSink;
import lectus.changes.page.ResumePoint;
import lectus.changes.page.Rows;
import lectus.database.DatabaseName;
import lectus.error.LectusError;
import lectus.http.changes.ClientMessage.Subscribe;
import lectus.http.limits.PageMemory;

/**
 * One subscription from its first row to its end. It takes rows from its feed while its client has
 * credits for them and the socket has room; all others wait in the store.
 */
final class Subscription<P extends ResumePoint<P>> implements FeedSink<P> {
  /** The most credits, so that no sum can overflow. */
  static final long MAX_CREDITS = 1_000_000_000;

  /**
   * A client is told that a subscription has caught up at once, but not after every row of a busy
   * database; then the last notice comes within this time.
   */
  private static final long CAUGHT_UP_MILLIS = 1_000;

  /** How a subscription begins that is to show what comes from now on. */
  private static final String NOW = "now";

  private final ChangesSession session;
  private final String id;
  private final ChangesSession.FilterShare filter;
  private final Optional<DatabaseName> database;
  private final PageMemory memory;
  private final boolean resumes;
  private LiveListener<P> feed;
  private String at;

  /** Whether the client said how many rows it accepts; else as many as its socket does. */
  private final boolean countsCredits;

  /** The number of rows that may be sent now; without credits, rows wait in the store. */
  private long credits;

  private boolean opened;
  private boolean ending;
  private boolean released;
  private boolean behind = true;
  private boolean lacksMemory;
  private Runnable readAgain;

  /** Whether rows came since the client was told that the subscription has caught up. */
  private boolean hasNews = true;

  private boolean hasCaughtUp;
  private boolean noticeRests;

  /**
   * @param filter is released at the end
   * @param database the only one, if there is only one
   * @param since where it begins
   */
  Subscription(
      ChangesSession session,
      Subscribe request,
      ChangesSession.FilterShare filter,
      Optional<DatabaseName> database,
      String since) {
    this.session = session;
    this.id = request.id();
    this.filter = filter;
    this.database = database;
    this.at = since;
    this.resumes = !since.equals("0") && !since.equals(NOW);
    this.countsCredits = request.credits().isPresent();
    this.credits = request.credits().orElse(Long.MAX_VALUE);
    this.memory = new PageMemory(session.pages());
  }

  void feedFrom(LiveListener<P> source) {
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
    P reached = feed.reached();
    at = reached == null ? at : reached.text();
    close();
    session.subscriptions.remove(id);
    session.say(ServerMessage.ended(id, at));
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
    session.quota.end();
    filter.ended();
    released = true;
    memory.noneComes();
    readAgain = null;
    session.giveUpTurn(this);
  }

  boolean countsCredits() {
    return countsCredits;
  }

  /** Returns false, and changes nothing, if they were too many. */
  boolean addCredits(long rows) {
    if (rows > MAX_CREDITS - credits) {
      return false;
    }
    credits += rows;
    if (readAgain != null) {
      session.awaitTurn(this);
    }
    return true;
  }

  @Override
  public void begin(P from) {
    opened = true;
    at = from.text();
    if (resumes && at.equals("0")) {
      // The client knows an earlier life of the database, which is gone.
      database.ifPresent(name -> session.say(ServerMessage.left(id, name.text(), at)));
    }
    if (ending) {
      end();
    } else {
      session.tryRead(this);
    }
  }

  @Override
  public long room() {
    boolean hasTurn = behind ? session.reading.contains(this) : !session.socket.isFull();
    if (!hasTurn || credits == 0) {
      return 0;
    }
    lacksMemory = !memory.hasRoom();
    return lacksMemory ? 0 : credits;
  }

  @Override
  public boolean lacksRequestsOnly() {
    return credits == 0 && !session.socket.isFull();
  }

  @Override
  public boolean hasMemoryFor(Rows<P> rows, int from, int to) {
    return memory.hasRoomFor(rows.bytes(from, to));
  }

  @Override
  public void whenRoom(Runnable again) {
    behind = true;
    readAgain = again;
    if (credits == 0) {
      session.giveUpTurn(this);
    } else if (lacksMemory) {
      lacksMemory = false;
      session.giveUpTurn(this);
      session.socket.afterMillis(PageMemory.RETRY_MILLIS, this::awaitTurn);
    } else {
      session.awaitTurn(this);
    }
  }

  private void awaitTurn() {
    if (readAgain != null && credits > 0) {
      session.awaitTurn(this);
    }
  }

  /** Called when its turn has come. */
  void read() {
    Runnable again = readAgain;
    readAgain = null;
    again.run();
  }

  @Override
  public void rows(Rows<P> rows, int from, int to) {
    hasNews = true;
    hasCaughtUp = false;
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
    session.giveUpTurn(this);
    session.tryRead(this);
  }

  private Future<Void> send(Rows<P> rows, int row) {
    at = rows.at(row).text();
    String name = database.orElseGet(() -> rows.database(row)).text();
    if (rows.isLeft(row)) {
      return session.say(ServerMessage.left(id, name, at));
    }
    credits -= countsCredits ? 1 : 0;
    return session.say(
        ServerMessage.row(id, name, at, rows.json(), rows.start(row), rows.end(row)));
  }

  @Override
  public void caughtUp(P point) {
    at = point.text();
    behind = false;
    memory.noneComes();
    session.giveUpTurn(this);
    hasCaughtUp = true;
    sayCaughtUp();
  }

  private void sayCaughtUp() {
    if (hasNews && hasCaughtUp && !noticeRests && !released) {
      hasNews = false;
      noticeRests = true;
      session.socket.afterMillis(
          CAUGHT_UP_MILLIS,
          () -> {
            noticeRests = false;
            sayCaughtUp();
          });
      session.say(ServerMessage.caughtUp(id, at));
    }
  }

  @Override
  public void heartbeat(P point) {
    at = point.text();
    if (!session.socket.isFull()) {
      session.say(ServerMessage.heartbeat(id, at));
    }
  }

  @Override
  public void end(FeedEnd reason, P point, long pending) {
    at = point.text();
    release();
    if (reason.error().isPresent()) {
      failed(reason.error().get());
      return;
    }
    if (reason instanceof FeedEnd.DatabaseDeleted) {
      database.ifPresent(name -> session.say(ServerMessage.left(id, name.text(), at)));
    }
    session.subscriptions.remove(id);
    session.say(ServerMessage.ended(id, at));
  }

  @Override
  public void fail(Throwable failure) {
    release();
    failed(session.errorOf(failure));
  }

  private void failed(LectusError error) {
    session.subscriptions.remove(id);
    session.say(ServerMessage.failed(Optional.of(id), true, error));
  }
}
