package lectus.store.embedded;

/** Whether a database is open. */
final class OpenState {
  private volatile boolean closed;

  /**
   * @throws IllegalStateException if the database is closed
   */
  void check() {
    if (closed) {
      throw new IllegalStateException("The database is closed");
    }
  }

  /** Closes the database. Returns false if it was already closed. */
  synchronized boolean close() {
    boolean wasOpen = !closed;
    closed = true;
    return wasOpen;
  }
}
