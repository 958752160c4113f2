package lectus.store.embedded;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** FoundationDB's database options that affect the embedded store. */
enum DatabaseOption {
  MAX_WATCHES(20),
  SNAPSHOT_RYW_ENABLE(26),
  SNAPSHOT_RYW_DISABLE(27),
  TRANSACTION_TIMEOUT(500),
  TRANSACTION_RETRY_LIMIT(501),
  TRANSACTION_MAX_RETRY_DELAY(502),
  TRANSACTION_SIZE_LIMIT(503),
  TRANSACTION_BYPASS_UNREADABLE(700);

  private static final Map<Integer, DatabaseOption> BY_CODE =
      Arrays.stream(values())
          .collect(Collectors.toUnmodifiableMap(option -> option.code, Function.identity()));

  private final int code;

  DatabaseOption(int code) {
    this.code = code;
  }

  /**
   * Returns the option of a code. Empty if it is unknown or only concerns a cluster or its client.
   */
  static Optional<DatabaseOption> of(int code) {
    return Optional.ofNullable(BY_CODE.get(code));
  }

  /** Returns whether FoundationDB has an option with this code. */
  static boolean isKnown(int code) {
    return BY_CODE.containsKey(code)
        || switch (code) {
          // Caches, locations, logging, causal reads, addresses, idempotency, configuration.
          case 10, 21, 22, 405, 504, 505, 506, 701, 702, 800, 900 -> true;
          default -> false;
        };
  }
}
