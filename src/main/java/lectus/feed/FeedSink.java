package lectus.feed;

/**
 * How the rows of one live feed reach its client: what a transport does for whoever reads the
 * source. Everything here is called on one thread, one call at a time; on a server that is the
 * connection's event loop. The order is: {@link #begin}, then rows, heartbeats and {@link
 * #caughtUp} as they come, then {@link #end}. {@link #fail} may come at any time and is the last
 * call, too. A sink whose client went away closes the feed, and nothing is called any more.
 */
public interface FeedSink<P extends ResumePoint<P>> {

  /** The source exists; rows behind {@code from} will follow. */
  void begin(P from);

  /**
   * Hands over the rows from {@code from} up to {@code to}, at least one and no more than there is
   * {@link #room} and memory for. They are shared with other listeners.
   */
  void rows(Rows<P> rows, int from, int to);

  /**
   * How many rows may be handed over now: 0 when the client does not read as fast as rows come, or
   * has not asked for more. Rows that find no room wait in the store, not in memory.
   */
  long room();

  /**
   * Whether there is memory for these rows, which nobody knew before they were read. Where there is
   * none they are not handed over, and {@link #room} is for as much from then on.
   */
  default boolean hasMemoryFor(Rows<P> rows, int from, int to) {
    return true;
  }

  /** Runs {@code again} once when there is room, later or at once; of several only the last. */
  void whenRoom(Runnable again);

  /**
   * A page was read for this feed alone, with rows or without, and another one is about to be asked
   * for: the moment to let others read.
   */
  default void readOn() {}

  /**
   * All rows up to and with {@code at} were handed over, as of some moment since the last call.
   * Comes again after rows that came later.
   */
  void caughtUp(P at);

  /**
   * Nothing was handed over for as long as the client wants to be without a sign of life, be it for
   * want of room.
   *
   * @param at how far was looked: everything up to here was handed over, or is not for this feed
   */
  void heartbeat(P at);

  /**
   * The feed is over, in order.
   *
   * @param at everything up to here was handed over
   * @param pending what is known to follow, as {@code pending} counts
   */
  void end(FeedEnd reason, P at, long pending);

  /** The feed cannot go on, or could not begin. */
  void fail(Throwable failure);
}
