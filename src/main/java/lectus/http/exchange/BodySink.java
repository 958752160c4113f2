package lectus.http.exchange;

/**
 * Takes the body of a request while it arrives. Its methods are called on readers' threads, one
 * after the other, and may wait for the store.
 *
 * @param <T> what becomes of the body
 */
public interface BodySink<T> {
  /** Takes the next bytes. What it throws ends the body. */
  void take(byte[] bytes);

  /** Returns how many bytes of the body it keeps. */
  default long heldBytes() {
    return 0;
  }

  /** Returns what has become of the whole body. */
  T end();

  /** The body does not come to its end, or was refused. */
  void abandon();
}
