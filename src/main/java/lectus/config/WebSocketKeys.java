package lectus.config;

/** What one WebSocket may ask for, and how long it is waited for. */
public final class WebSocketKeys {
  static final KeySection SECTION = new KeySection("WebSockets");

  public static final ConfigurationKey<Integer> MAX_MESSAGE_BYTES =
      SECTION.number(
          "websocket.max-message-bytes",
          256 << 10,
          256,
          64 << 20,
          """
          Longest message of a WebSocket's client, in bytes. A longer one closes the socket with
          code 1009.
          """);

  public static final ConfigurationKey<Integer> MAX_SUBSCRIPTIONS =
      SECTION.number(
          "websocket.max-subscriptions",
          1_000,
          1,
          1_000_000,
          "Most subscriptions of one WebSocket at a time. A further one is answered with an"
              + " error.");

  public static final ConfigurationKey<Integer> PING_SECONDS =
      SECTION.number(
          "websocket.ping-seconds",
          55,
          1,
          3_600,
          "How often a WebSocket's client is pinged, in seconds.");

  public static final ConfigurationKey<Integer> WEBSOCKET_IDLE_SECONDS =
      SECTION.number(
          "websocket.idle-timeout-seconds",
          120,
          1,
          86_400,
          """
          How many seconds after the last sign of life of a WebSocket's client the
          socket is closed. Signs of life are messages, pongs, and the client's reading
          of data that waits for it.
          """);

  private WebSocketKeys() {}
}
