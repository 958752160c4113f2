package lectus.http.socket;

import java.util.Optional;
import lectus.database.DatabaseName;
import lectus.error.LectusError;
import lectus.feed.FeedEnd;
import lectus.feed.FeedSink;
import lectus.feed.ResumePoint;
import lectus.feed.Rows;
import lectus.http.socket.ClientMessage.Subscribe;
import lectus.http.socket.ServerMessage.CaughtUp;
import lectus.http.socket.ServerMessage.Ended;
import lectus.http.socket.ServerMessage.Heartbeat;
import lectus.http.socket.ServerMessage.Left;
import lectus.http.socket.ServerMessage.Row;

/**
 * One subscription from its first row to its end. It takes rows of its feed as long as its client
 * has credits for them and the socket takes more; all others wait in the store.
 */
final class Subscription<P extends ResumePoint<P>> implements FeedSink<P>, ReadTurns.Reader {
  private final ChangesSession session;
  private final ReadTurns turns;
  private final String id;
  private final Optional<DatabaseName> database;
  private final Credits credits;
  private final CaughtUpNotice caughtUp;
  private SubscriptionFeeds.Feed feed;
  private String at;
  private boolean behind = true;
  private Runnable readAgain;

  /**
   * @param database the only one, if it is about one
   * @param since where it begins
   */
  Subscription(
      ChangesSession session,
      ReadTurns turns,
      Subscribe request,
      Optional<DatabaseName> database,
      String since) {
    this.session = session;
    this.turns = turns;
    this.id = request.id();
    this.database = database;
    this.at = since;
    this.credits = new Credits(request.terms().credits());
    this.caughtUp = new CaughtUpNotice(session, this::sayCaughtUp);
  }

  void feedFrom(SubscriptionFeeds.Feed source) {
    feed = source;
  }

  /** Takes no more rows, whatever is being read; says where another one would go on. */
  void end() {
    close();
    session.say(new Ended(id, at));
  }

  void close() {
    feed.close();
    release();
  }

  private void release() {
    caughtUp.cancel();
    readAgain = null;
    turns.giveUp(this);
  }

  boolean countsCredits() {
    return credits.areCounted();
  }

  /** False, and nothing changed, if they were too many. */
  boolean addCredits(long rows) {
    boolean added = credits.add(rows);
    if (added && readAgain != null) {
      turns.await(this);
    }
    return added;
  }

  @Override
  public void begin(P from) {
    at = from.text();
    turns.tryTake(this);
  }

  @Override
  public long room() {
    boolean hasTurn = behind ? turns.has(this) : !session.isFull();
    return hasTurn ? credits.left() : 0;
  }

  @Override
  public void whenRoom(Runnable again) {
    behind = true;
    readAgain = again;
    if (credits.left() > 0) {
      turns.await(this);
    } else {
      turns.giveUp(this);
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
    for (int row = from; row < to; row++) {
      send(rows, row);
    }
    if (behind) {
      turns.giveUp(this);
      turns.tryTake(this);
    }
  }

  private void send(Rows<P> rows, int row) {
    at = rows.at(row).text();
    String name = database.orElseGet(() -> rows.database(row)).text();
    if (rows.isLeft(row)) {
      session.say(new Left(id, name, at));
    } else {
      credits.take(1);
      session.say(new Row(id, name, at, rows.json(), rows.start(row), rows.end(row)));
    }
  }

  @Override
  public void caughtUp(P point) {
    at = point.text();
    behind = false;
    turns.giveUp(this);
    caughtUp.reached();
  }

  private void sayCaughtUp() {
    session.say(new CaughtUp(id, at));
  }

  @Override
  public void heartbeat() {
    if (!session.isFull()) {
      session.say(new Heartbeat(id, at));
    }
  }

  @Override
  public void end(FeedEnd reason, P point, long pending) {
    at = point.text();
    release();
    if (reason instanceof FeedEnd.DatabaseDeleted) {
      database.ifPresent(name -> session.say(new Left(id, name.text(), at)));
    }
    session.forget(id);
    session.say(new Ended(id, at));
  }

  @Override
  public void fail(Throwable failure) {
    release();
    session.forget(id);
    LectusError error = session.errorOf(failure);
    session.say(new ServerMessage.Failed(Optional.of(id), true, error));
  }
}
