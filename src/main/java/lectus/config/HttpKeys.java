package lectus.config;

/** What one server takes from its clients over HTTP. */
public final class HttpKeys {
  static final KeySection SECTION = new KeySection("HTTP");

  static final int MIN_REQUEST_BYTES = 1 << 10;

  /** CouchDB's default, 4 GiB. */
  private static final long DEFAULT_REQUEST_BYTES = 4L << 30;

  public static final ConfigurationKey<Long> MAX_REQUEST_BYTES =
      SECTION.key(
          "http.max-request-bytes",
          ValueType.longNumber(MIN_REQUEST_BYTES, Long.MAX_VALUE),
          Long.toString(DEFAULT_REQUEST_BYTES),
          """
          Longest request body, before and after decompression, in bytes. A longer one
          is answered 413. Of a body that is held in memory, no more than an eighth of
          the heap and 128 MB; _bulk_docs and the data of attachments are not held.
          """);

  public static final ConfigurationKey<Integer> BODY_MEMORY_BYTES =
      SECTION.number(
          "http.body-memory-bytes",
          0,
          0,
          Integer.MAX_VALUE,
          """
          How much memory the bodies of all running requests may use together, in bytes.
          The documents that are parsed from them may use four times as much in
          addition. Beyond that, bodies are not read on until there is room, and
          answered 503 after http.request-seconds. 0: a 16th of the heap.
          """);

  public static final ConfigurationKey<Integer> MAX_URI_LENGTH =
      SECTION.number(
          "http.max-uri-length",
          8_000,
          256,
          1 << 20,
          "Longest request URI, in bytes. A longer one is answered 414.");

  public static final ConfigurationKey<Integer> IDLE_TIMEOUT_SECONDS =
      SECTION.number(
          "http.idle-timeout-seconds",
          300,
          0,
          86_400,
          """
          How many seconds after the last byte moved on a connection it is closed; 0:
          never. Heartbeats of feeds come after half of that at the latest (with 0,
          after a day), and at most once a second, whatever a client asks for.
          """);

  public static final ConfigurationKey<Integer> STALLED_SECONDS =
      SECTION.number(
          "http.stalled-seconds",
          20,
          1,
          3_600,
          """
          The connection of a client that has taken nothing of what waits for it for
          this long, in seconds, is closed when others are refused the memory that it
          holds.
          """);

  public static final ConfigurationKey<Integer> MAX_CONNECTIONS =
      SECTION.number(
          "http.max-connections",
          0,
          0,
          1_000_000,
          """
          Most connections at a time. Beyond that, the connection that has been idle for
          longest is closed for each new one. If none is idle (live feeds and WebSockets
          never are), the new one is answered 503. 0: one for each 262 kB of the heap.
          Never more than half of the file descriptors that the process may have,
          because the store needs them.
          """);

  public static final ConfigurationKey<Integer> MAX_STREAMS =
      SECTION.number(
          "http.max-streams",
          256,
          1,
          10_000,
          """
          Most requests at a time on one HTTP/2 connection, live feeds included; a client
          keeps others back until there is room. Each but the first counts as one more
          connection.
          """);

  public static final ConfigurationKey<Integer> REQUEST_SECONDS =
      SECTION.number(
          "http.request-seconds",
          10,
          1,
          3_600,
          """
          How long a request waits for its turn and for a store that does not answer, in
          seconds after it has arrived as a whole. Then it is answered 503, or at once
          while the store is known not to answer. A request may take longer while the
          store answers its transactions, and live feeds stay open.
          """);

  public static final ConfigurationKey<Integer> STOP_SECONDS =
      SECTION.number(
          "stop-seconds",
          30,
          0,
          3_600,
          "How long an orderly stop waits for the requests that are running, in seconds.");

  public static final ConfigurationKey<Boolean> DECODE_PLUS =
      SECTION.flag(
          "http.decode-plus-to-space",
          true,
          """
          Whether a + in the path of a URL is a space, as in CouchDB. In a query it is
          one in any case.
          """);

  public static final ConfigurationKey<Integer> MAX_UUIDS =
      SECTION.number(
          "uuids.max-count", 1_000, 1, 100_000, "Most ids that one request to /_uuids returns.");

  public static final ConfigurationKey<Boolean> COMPRESSION =
      SECTION.flag(
          "http.compression",
          true,
          """
          Whether JSON and text of 1 kB and more is sent as gzip to clients that accept
          it, live feeds excepted. Attachments come as they are stored in any case.
          """);

  public static final ConfigurationKey<String> UTILS =
      SECTION.key(
          "http.utils",
          ValueType.TEXT,
          "",
          """
          A folder with an administration interface for browsers, such as the build of
          CouchDB's Fauxton, that is served at /_utils/. Whoever reaches the port may
          read its files. Hidden ones, and links that lead out of it, are not served.
          """);

  public static final ConfigurationKey<String> SERVER_HEADER =
      SECTION.key(
          "http.server-header",
          ValueType.TEXT,
          "",
          """
          The Server header of all answers, in printable ASCII. Without a value it is
          that of CouchDB, whose version clients read, with Lectus' own in parentheses.
          """);

  private HttpKeys() {}
}
