package lectus.http.changes;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import lectus.document.PagedBody;
import lectus.http.exchange.Outbox;
import lectus.http.exchange.WorkerDispatch;
import lectus.http.limits.PageMemory;
import lectus.json.JsonBuffer;

/**
 * Rows with bytes of attachments on their way to the client of a live feed: piece by piece, as the
 * client takes them. For the connection's event loop.
 */
final class FilledRows {
  private static final int FIRST_CAPACITY = 16 << 10;

  private final Context context;
  private final Executor readers;
  private final Outbox outbox;
  private final PageMemory memory;
  private final Consumer<Throwable> failing;
  private Optional<PagedBody> body = Optional.empty();
  private Optional<Runnable> next = Optional.empty();
  private Optional<Runnable> whenRoom = Optional.empty();

  /**
   * @param failing is told why the rows cannot go on
   */
  FilledRows(FeedClient client, Outbox outbox, PageMemory memory, Consumer<Throwable> failing) {
    this.context = client.context();
    this.readers = client.laterReaders();
    this.outbox = outbox;
    this.memory = memory;
    this.failing = failing;
  }

  /** Whether rows are on their way; nothing else may be written meanwhile. */
  boolean areSent() {
    return body.isPresent();
  }

  void send(PagedBody rows) {
    body = Optional.of(rows);
    memory.keeps(rows.keptBytes());
    goOn();
  }

  /** Runs a step once the rows are sent; only the latest counts. */
  void then(Runnable step) {
    next = Optional.of(step);
  }

  /** Runs a step once there is room for other rows; only the latest counts. */
  void whenRoom(Runnable step) {
    whenRoom = Optional.of(step);
  }

  /** Sends no more: the client has left, or may see no more. */
  void stop() {
    if (areSent()) {
      body = Optional.empty();
      memory.noneComes();
      memory.keeps(0);
    }
    next = Optional.empty();
    whenRoom = Optional.empty();
  }

  private void goOn() {
    if (!areSent()) {
      return;
    }
    if (outbox.isFull()) {
      outbox.whenRoom(this::goOn);
    } else if (!memory.hasRoom()) {
      context.owner().setTimer(PageMemory.RETRY_MILLIS, timer -> goOn());
    } else {
      PagedBody reading = body.get();
      WorkerDispatch.to(readers, context, () -> Piece.of(reading))
          .onComplete(piece -> guarded(() -> take(piece)), this::fail);
    }
  }

  private record Piece(Buffer bytes, long kept, boolean more) {
    static Piece of(PagedBody body) {
      JsonBuffer out = new JsonBuffer(FIRST_CAPACITY);
      boolean more = body.appendNext(out);
      Buffer bytes = Buffer.buffer(out.length()).appendBytes(out.array(), 0, out.length());
      return new Piece(bytes, body.keptBytes(), more);
    }
  }

  private void take(Piece piece) {
    if (!areSent()) {
      return;
    }
    int length = piece.bytes().length();
    Future<Void> written = outbox.write(piece.bytes());
    // Counted only now: if writing fails, nobody would release it.
    memory.sends(length);
    written.onComplete(sent -> memory.taken(length));
    if (piece.more()) {
      memory.keeps(piece.kept());
      goOn();
    } else {
      end();
    }
  }

  private void end() {
    body = Optional.empty();
    memory.keeps(0);
    Optional<Runnable> first = next;
    Optional<Runnable> second = whenRoom;
    next = Optional.empty();
    whenRoom = Optional.empty();
    first.ifPresent(Runnable::run);
    second.ifPresent(Runnable::run);
  }

  private void guarded(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  private void fail(Throwable failure) {
    if (areSent()) {
      stop();
      failing.accept(failure);
    }
  }
}
