package lectus.http.websocket;

import java.util.function.BooleanSupplier;

/**
 * How many subscriptions the user of a socket may have, over all sockets of that user.
 *
 * @param begin counts one, unless there are as many
 * @param end counts one less
 * @param most for the message to the client
 */
public record SubscriptionQuota(BooleanSupplier begin, Runnable end, int most) {
  /** Any number. */
  public static final SubscriptionQuota NONE =
      new SubscriptionQuota(() -> true, () -> {}, Integer.MAX_VALUE);
}
