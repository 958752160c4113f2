package lectus.http.websocket;

import java.util.Optional;
import lectus.error.LectusError;
import lectus.http.limits.MemoryAccount;

/**
 * The memory of all filters of one socket's subscriptions: selectors, ids, fields, and the names of
 * many databases. On the connection's event loop.
 */
final class FilterBudget {
  /**
   * Enough for one message of the usual size, and for a thousand filters of a few conditions each.
   */
  static final long MAX_BYTES = 4 << 20;

  private final MemoryAccount account;
  private long taken;

  /**
   * @param account of the filters of all clients
   */
  FilterBudget(MemoryAccount account) {
    this.account = account;
  }

  /** Whether this socket may have so many more bytes. */
  boolean allows(long bytes) {
    return bytes <= MAX_BYTES - taken;
  }

  /**
   * Returns empty, and takes nothing, if the bytes exceed what is left to this socket or to all.
   */
  Optional<Share> take(long bytes) {
    boolean fits = bytes == 0 || (allows(bytes) && account.tryReserve(bytes, taken));
    if (!fits) {
      return Optional.empty();
    }
    taken += bytes;
    return Optional.of(new Share(bytes));
  }

  /** Returns the error when others hold too much. */
  LectusError refusal() {
    return account.refusal().error();
  }

  /**
   * The share of one subscription. It is released when both the subscription and its opening are
   * over: the opening holds the filter even after the client has unsubscribed.
   */
  final class Share {
    private final long bytes;
    private boolean opened;
    private boolean ended;
    private boolean givenBack;

    private Share(long bytes) {
      this.bytes = bytes;
    }

    void opened() {
      opened = true;
      settle();
    }

    void ended() {
      ended = true;
      settle();
    }

    private void settle() {
      if (opened && ended && !givenBack) {
        givenBack = true;
        account.release(bytes, taken);
        taken -= bytes;
      }
    }
  }
}
