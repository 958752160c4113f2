package lectus.http.memory;

import lectus.error.LectusException;

/**
 * What the pages of one live feed, or the parts of one long answer, take of the memory that all of
 * them share, from when a page is asked for until its client has taken it. Nobody knows how long a
 * page will be before it is read; it is expected to be about as long as the last one. For the
 * connection's event loop.
 */
public final class PageMemory {
  /** Whoever has to wait for memory asks again after so many milliseconds. */
  public static final long RETRY_MILLIS = 100;

  private static final long FIRST_PAGE_BYTES = MemoryAccount.SMALL_BYTES;

  private final MemoryAccount account;
  private long expected = FIRST_PAGE_BYTES;
  private long ahead;
  private long sending;

  public PageMemory(MemoryAccount account) {
    this.account = account;
  }

  /** Whether there is memory for one more page, which is reserved then. */
  public boolean hasRoom() {
    if (ahead == 0
        && expected > MemoryAccount.FREE_BYTES
        && account.tryReserve(expected, sending)) {
      ahead = expected;
    }
    return ahead > 0 || expected <= MemoryAccount.FREE_BYTES;
  }

  /**
   * Whether there is memory for a page that has come, which is reserved then. A page for which
   * there is none is not sent: there is room again when there is enough for as long a page.
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

  /** No page is read for now. */
  public void noneComes() {
    account.release(ahead, sending + ahead);
    ahead = 0;
  }

  /**
   * A page has come. It is counted with its true length, however much others hold by now.
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
   * A page has come that nobody asked memory for.
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

  /** The error for a page for which there is no memory. */
  public LectusException refusal() {
    return account.refusal();
  }

  /** The client has taken so many bytes of what was sent, or never will. */
  public void taken(long bytes) {
    account.release(bytes, sending + ahead);
    sending -= bytes;
  }
}
