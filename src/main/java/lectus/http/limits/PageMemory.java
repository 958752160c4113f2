package lectus.http.limits;

import lectus.error.LectusException;

/**
 * The share of one live feed's pages, or of one long answer's parts, in the memory that all of them
 * share, from the request for a page until its client has read it. The length of a page is unknown
 * before it is read, and is estimated by the last one's. For the connection's event loop.
 */
public final class PageMemory {
  /** The milliseconds after which a reader that lacks memory tries again. */
  public static final long RETRY_MILLIS = 100;

  private static final long FIRST_PAGE_BYTES = MemoryAccount.SMALL_BYTES;

  private final MemoryAccount account;
  private long expected = FIRST_PAGE_BYTES;
  private long ahead;
  private long sending;
  private long kept;

  public PageMemory(MemoryAccount account) {
    this.account = account;
  }

  /** Reserves memory for one more page; returns whether there is enough. */
  public boolean hasRoom() {
    if (ahead == 0
        && expected > MemoryAccount.FREE_BYTES
        && account.tryReserve(expected, sending)) {
      ahead = expected;
    }
    return ahead > 0 || expected <= MemoryAccount.FREE_BYTES;
  }

  /**
   * Reserves memory for a page that has arrived; returns whether there is enough. Without it the
   * page is not sent, and the next attempt needs as much.
   */
  public boolean hasRoomFor(long bytes) {
    if (bytes <= Math.max(ahead, MemoryAccount.FREE_BYTES)) {
      return true;
    }
    boolean fits = account.tryReserve(bytes - ahead, sending + ahead);
    if (fits) {
      ahead = bytes;
    } else {
      noneComes();
      expected = Math.max(expected, bytes);
    }
    return fits;
  }

  /** Notes that no page is read for now. */
  public void noneComes() {
    account.release(ahead, sending + ahead);
    ahead = 0;
  }

  /**
   * Counts an arrived page at its true length, however much others hold by now.
   *
   * @param bytes that wait for the client from now on
   */
  public void sends(long bytes) {
    noneComes();
    account.take(bytes, sending);
    sending += bytes;
    expected = Math.max(bytes, expected / 2);
  }

  /**
   * Counts a page that arrived without a reservation.
   *
   * @return false, and it is not counted, if others hold too much
   */
  public boolean trySend(long bytes) {
    boolean fits = account.tryReserve(bytes, sending);
    if (fits) {
      sending += bytes;
      expected = bytes;
    }
    return fits;
  }

  /** Counts what is kept beside the pages that are on their way, in place of what was before. */
  public void keeps(long bytes) {
    account.release(kept, sending + ahead);
    sending += bytes - kept;
    account.take(bytes, sending + ahead - bytes);
    kept = bytes;
  }

  /** Returns the error for a page that lacks memory. */
  public LectusException refusal() {
    return account.refusal();
  }

  /** Notes that the client has read so many bytes of what was sent, or never will. */
  public void taken(long bytes) {
    account.release(bytes, sending + ahead);
    sending -= bytes;
  }
}
