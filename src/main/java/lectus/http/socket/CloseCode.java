package lectus.http.socket;

/** Why the server closes a WebSocket (RFC 6455, section 7.4.1). */
public enum CloseCode {
  /** Nothing is left to be said. */
  NORMAL(1000),
  /** The server stops, or the client is silent; come back. */
  GOING_AWAY(1001),
  /** The client sent frames that are none. */
  PROTOCOL_ERROR(1002),
  /** The client sent a kind of message that is not taken. */
  UNSUPPORTED_DATA(1003),
  /** A text message is no UTF-8. */
  INVALID_TEXT(1007),
  /** The client sent something to a socket that takes no messages, or never ends its message. */
  POLICY_VIOLATION(1008),
  /** A message is longer than the limit. */
  TOO_BIG(1009),
  /** A defect of the server. */
  INTERNAL_ERROR(1011),
  /** The server or its store is too busy, or the store is silent; come back later. */
  TRY_AGAIN_LATER(1013);

  private final short number;

  CloseCode(int number) {
    this.number = (short) number;
  }

  public short number() {
    return number;
  }
}
