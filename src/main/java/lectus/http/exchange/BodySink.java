package lectus.http.exchange;

import lectus.http.limits.BodyMemory;

/**
 * Takes the body of a request while it arrives. Its methods are called on readers' threads, one
 * after the other, and may wait for the store.
 *
 * @param <T> what becomes of the body
 */
public interface BodySink<T> {
  /**
   * Takes the next bytes, or none if it {@linkplain #hasMore has more}. What it throws ends the
   * body.
   */
  void take(byte[] bytes);

  /**
   * Whether it has not done with the bytes that it took last, because they are more than they look
   * like: what it holds is counted, and then it takes none.
   */
  default boolean hasMore() {
    return false;
  }

  /**
   * What of the body it has, in bytes.
   *
   * @param kept to be parsed, for example
   * @param most that it keeps at most; {@link BodyMemory#UNKNOWN} if nobody knows
   * @param passing on their way to the store
   */
  record Held(long kept, long most, long passing) {
    static final Held NOTHING = new Held(0, BodyMemory.UNKNOWN, 0);
  }

  /** Returns what it has of the body now. */
  default Held held() {
    return Held.NOTHING;
  }

  /** Returns how many bytes it takes besides, whatever comes. */
  default long ownBytes() {
    return 0;
  }

  /**
   * Waits until hardly any bytes are on their way: there is no room for more, or no more have come.
   */
  default void relieve() {}

  /** Returns what has become of the whole body. */
  T end();

  /** The body does not come to its end, or was refused. */
  void abandon();
}
