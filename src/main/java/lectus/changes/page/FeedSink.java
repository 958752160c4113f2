package lectus.changes.page;

/**
 * Delivers the rows of one live feed to its client: a transport's part of a feed. All calls come on
 * one thread, one at a time; on a server, on the connection's event loop. The order is {@link
 * #begin}, then rows, heartbeats and {@link #caughtUp} in any order, then {@link #end}. {@link
 * #fail} may come at any time and is also the last call. A sink whose client disconnects closes the
 * feed, and gets no further call.
 */
public interface FeedSink<P extends ResumePoint<P>> {

  /** The source exists; rows after {@code from} will follow. */
  void begin(P from);

  /**
   * Delivers the rows from {@code from} (inclusive) to {@code to} (exclusive): at least one, and no
   * more than {@link #room} and memory allow. They are shared with other listeners.
   */
  void rows(Rows<P> rows, int from, int to);

  /**
   * Returns how many rows may be delivered now: 0 if the client reads too slowly, or has not asked
   * for more. Rows without room wait in the store, not in memory (back-pressure).
   */
  long room();

  /**
   * Whether {@link #room} is 0 only because the client has not asked for more rows: what is no row,
   * it may be told.
   */
  default boolean lacksRequestsOnly() {
    return false;
  }

  /**
   * Whether there is memory for these rows, whose size was unknown before they were read. If not,
   * they are not delivered, and {@link #room} then reflects what fits.
   */
  default boolean hasMemoryFor(Rows<P> rows, int from, int to) {
    return true;
  }

  /** Runs {@code again} once when there is room, later or at once. Only the latest call counts. */
  void whenRoom(Runnable again);

  /**
   * A page was read for this feed alone, with or without rows, and the next is about to be read.
   * Lets other feeds read first.
   */
  default void readOn() {}

  /**
   * All rows up to and including {@code at} were delivered, as of some moment since the last call.
   * Called again after later rows.
   */
  void caughtUp(P at);

  /**
   * Nothing was delivered during the client's heartbeat interval, perhaps for want of room.
   *
   * @param at how far the source was examined: everything up to here was delivered or filtered out
   */
  void heartbeat(P at);

  /**
   * The feed is over, in order.
   *
   * @param at everything up to here was delivered
   * @param pending how much is known to follow, as {@code pending} counts
   */
  void end(FeedEnd reason, P at, long pending);

  /** The feed cannot continue, or could not begin. */
  void fail(Throwable failure);
}
