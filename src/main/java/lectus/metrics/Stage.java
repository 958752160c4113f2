package lectus.metrics;

import java.util.Locale;

/** What a request waits for. Reads, commits and retries are parts of transactions. */
public enum Stage {
  /** Finding out who sends it, hashing a password for example. */
  LOG_IN,
  /** The client, which sends the body. */
  BODY_IN,
  /** A thread. */
  TURN,
  /** Other writes, in the queue of an executor. */
  WRITE_QUEUE,
  TRANSACTION,
  READ,
  COMMIT,
  /** The pause before a transaction runs again. */
  RETRY,
  /** Memory that answers to others hold. */
  MEMORY,
  /** The client, which reads the answer. */
  SOCKET_OUT;

  /** Whether transactions consist of it. */
  public boolean isPartOfTransaction() {
    return this == READ || this == COMMIT || this == RETRY;
  }

  /** Returns its name in the log and in traces, such as {@code write_queue}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
