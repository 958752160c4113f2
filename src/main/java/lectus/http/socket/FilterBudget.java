package lectus.http.socket;

import java.util.Optional;
import lectus.error.LectusError;
import lectus.http.memory.MemoryAccount;

/**
 * What the filters of one socket's subscriptions may take in memory together: selectors, ids,
 * fields, and the names of many databases. On the connection's event loop.
 */
final class FilterBudget {
  /** One message of the usual size fits, and a thousand filters of a few conditions each. */
  static final long MOST_BYTES = 4 << 20;

  private final MemoryAccount account;
  private long taken;

  /**
   * @param account of the filters of all clients
   */
  FilterBudget(MemoryAccount account) {
    this.account = account;
  }

  /** Whether this socket may have so much more. */
  boolean allows(long bytes) {
    return bytes <= MOST_BYTES - taken;
  }

  /** Empty, and nothing is taken, if it is more than is left to this socket or to all. */
  Optional<Share> take(long bytes) {
    boolean fits = bytes == 0 || (allows(bytes) && account.tryReserve(bytes, taken));
    if (!fits) {
      return Optional.empty();
    }
    taken += bytes;
    return Optional.of(new Share(bytes));
  }

  /** What is told where others have too much. */
  LectusError refusal() {
    return account.refusal().error();
  }

  /**
   * What one subscription has of it. It is given back when the subscription is over and its opening
   * too, which has the filter even if nobody wants to know any more.
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
