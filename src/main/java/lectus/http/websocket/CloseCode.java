package lectus.http.websocket;

/** The reasons for which the server closes a WebSocket (RFC 6455, section 7.4.1). */
public enum CloseCode {
  /** The conversation is over. */
  NORMAL(1000),
  /** The server stops, or the client is silent; the client may reconnect. */
  GOING_AWAY(1001),
  /** The client sent invalid frames. */
  PROTOCOL_ERROR(1002),
  /** The client sent an unsupported kind of message. */
  UNSUPPORTED_DATA(1003),
  /** A text message is not UTF-8. */
  INVALID_TEXT(1007),
  /** The client sent data to a socket that accepts no messages, or does not finish its message. */
  POLICY_VIOLATION(1008),
  /** A message is longer than the limit. */
  TOO_BIG(1009),
  /** A defect of the server. */
  INTERNAL_ERROR(1011),
  /**
   * The server or its store is too busy, or the store does not answer; the client may reconnect
   * later.
   */
  TRY_AGAIN_LATER(1013);

  private final short number;

  CloseCode(int number) {
    this.number = (short) number;
  }

  public short number() {
    return number;
  }
}
