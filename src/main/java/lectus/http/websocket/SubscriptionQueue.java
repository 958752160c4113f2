package lectus.http.websocket;

import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Lets a few of a socket's subscriptions at a time read pages, in turn, and none while the socket
 * is full. So the memory of a slow socket does not grow with its subscriptions, and a long history
 * does not delay the others.
 */
final class SubscriptionQueue {
  /** A page may hold some hundred kilobytes. */
  private static final int AT_ONCE = 4;

  private final TextSocket socket;
  private final Set<Reader> reading = new HashSet<>();
  private final Set<Reader> waiting = new LinkedHashSet<>();
  private boolean awaitingDrain;

  /** A subscription that takes turns. */
  interface Reader {
    /** Called when the reader gets its turn. */
    void read();
  }

  SubscriptionQueue(TextSocket socket) {
    this.socket = socket;
  }

  /** Gives a turn at once if one is free and no reader waits for it. */
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

  /** Calls {@link Reader#read} when the reader's turn comes. */
  void await(Reader reader) {
    reading.remove(reader);
    waiting.add(reader);
    handOut();
  }

  /** Takes back the reader's turn, or its place in the queue. */
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
