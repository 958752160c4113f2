package lectus.http.socket;

import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Lets a few of a socket's subscriptions at a time read pages, in turn, and none while the socket
 * is full. So what a slow socket holds in memory does not grow with the number of its
 * subscriptions, and a long history does not keep the others waiting.
 */
final class ReadTurns {
  /** A page may hold some hundred kilobytes. */
  private static final int AT_ONCE = 4;

  private final TextSocket socket;
  private final Set<Reader> reading = new HashSet<>();
  private final Set<Reader> waiting = new LinkedHashSet<>();
  private boolean awaitingDrain;

  /** Who takes turns. */
  interface Reader {
    /** It has the turn now. */
    void read();
  }

  ReadTurns(TextSocket socket) {
    this.socket = socket;
  }

  /** Gives a turn at once if there is one and nobody waits for it. */
  boolean tryTake(Reader reader) {
    boolean free = waiting.isEmpty() && isOneFree();
    if (free) {
      reading.add(reader);
    }
    return free;
  }

  boolean has(Reader reader) {
    return reading.contains(reader);
  }

  /** Calls {@link Reader#read} with the turn, when it comes. */
  void await(Reader reader) {
    reading.remove(reader);
    waiting.add(reader);
    handOut();
  }

  /** The reader neither has nor wants a turn any more. */
  void giveUp(Reader reader) {
    reading.remove(reader);
    waiting.remove(reader);
    handOut();
  }

  private boolean isOneFree() {
    return reading.size() < AT_ONCE && !socket.isFull();
  }

  private void handOut() {
    while (!waiting.isEmpty() && isOneFree()) {
      Reader next = waiting.iterator().next();
      waiting.remove(next);
      reading.add(next);
      next.read();
    }
    if (!waiting.isEmpty() && !awaitingDrain && socket.isFull()) {
      awaitingDrain = true;
      socket.whenDrained(this::drained);
    }
  }

  private void drained() {
    awaitingDrain = false;
    handOut();
  }
}
