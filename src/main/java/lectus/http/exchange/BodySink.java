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

  /** Returns how many bytes of the body it keeps, to be parsed for example. */
  default long heldBytes() {
    return 0;
  }

  /** Returns how many bytes it keeps at most; {@link BodyMemory#UNKNOWN} if nobody knows. */
  default long mostHeldBytes() {
    return BodyMemory.UNKNOWN;
  }

  /** Returns how many bytes it holds that are on their way to the store. */
  default long passingBytes() {
    return 0;
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
