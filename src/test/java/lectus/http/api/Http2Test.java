package lectus.http.api;

import static lectus.http.api.Http2Test.Http2Connection.DATA;
import static lectus.http.api.Http2Test.Http2Connection.ENHANCE_YOUR_CALM;
import static lectus.http.api.Http2Test.Http2Connection.PING;
import static lectus.http.api.Http2Test.Http2Connection.PRIORITY;
import static lectus.http.api.Http2Test.Http2Connection.REFUSED_STREAM;
import static lectus.http.api.Http2Test.Http2Connection.RST_STREAM;
import static lectus.http.api.Http2Test.Http2Connection.SETTINGS;
import static lectus.http.api.Http2Test.Http2Connection.frame;
import static lectus.http.api.Http2Test.Http2Connection.leave;
import static lectus.http.api.Http2Test.Http2Connection.reset;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.config.HttpKeys;
import lectus.config.ProxyKeys;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.testing.Await;
import lectus.store.testing.LogLines;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Many requests on one connection, and clients that abuse it. */
final class Http2Test {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final int WINDOW = 65_535;
  private static final String FEED = "/w/_changes?feed=continuous&since=now&heartbeat=60000";

  private static final Pattern PROVOKED =
      Pattern.compile("^lectus_http2_provoked_resets_total ([0-9]+)", Pattern.MULTILINE);

  private static final Pattern CONNECTIONS =
      Pattern.compile("^lectus_connections ([0-9]+)", Pattern.MULTILINE);

  /** Where a frame has its flags. */
  private static final int FLAGS = 4;

  private static final byte END_HEADERS = 4;

  @AutoClose private final LogLines log = LogLines.of(LogLines.ROOT);
  private LectusServer server;

  @AfterEach
  void stop() {
    server.close();
    assertThat(log.complaints()).isEmpty();
  }

  private void start(TestSettings settings) {
    server = LectusServer.start(stores.fresh(), settings);
    server.put("/w").expect(201);
  }

  private Http2Connection connect(int window) {
    return new Http2Connection(server.connect(), window);
  }

  @Test
  void a_hundred_feeds_and_small_requests_share_a_connection() throws Exception {
    start(new TestSettings());
    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();
    HttpRequest up = HttpRequest.newBuilder(URI.create(server.url() + "/_up")).build();
    assertThat(client.send(up, BodyHandlers.ofString()).version())
        .isEqualTo(HttpClient.Version.HTTP_2);
    List<BufferedReader> feeds = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      HttpResponse<InputStream> feed =
          client.send(
              HttpRequest.newBuilder(URI.create(server.url() + FEED)).build(),
              BodyHandlers.ofInputStream());
      assertThat(feed.version()).isEqualTo(HttpClient.Version.HTTP_2);
      feeds.add(new BufferedReader(new InputStreamReader(feed.body(), StandardCharsets.UTF_8)));
    }
    for (int i = 0; i < 3; i++) {
      server.write("/w/d" + i, "{}");
      assertThat(client.send(up, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
      for (BufferedReader feed : feeds) {
        assertThat(feed.readLine()).contains("\"id\":\"d" + i + "\"");
      }
    }
  }

  @Test
  void a_request_beyond_the_limit_of_a_connection_is_refused_untouched() {
    start(new TestSettings().with(HttpKeys.MAX_STREAMS, 2));
    try (Http2Connection client = connect(WINDOW)) {
      client.read(); // from now on the client knows the limit
      assertThat(client.status(client.get(FEED))).isEqualTo(200);
      assertThat(client.status(client.get(FEED))).isEqualTo(200);
      int third = client.get("/_up");
      Http2Connection.Frame refused = client.next();
      assertThat(refused.type()).isEqualTo(RST_STREAM);
      assertThat(refused.stream()).isEqualTo(third);
      assertThat(refused.code()).isEqualTo(REFUSED_STREAM);
    }
  }

  @Test
  void requests_beside_others_count_as_connections_until_they_are_cancelled() {
    start(new TestSettings().maxConnections(4));
    Await.until("no connection is left of the start", () -> feedsOfFour().size() == 4);
  }

  /** Opens feeds until one is refused, cancels them, and tries again. */
  private List<Integer> feedsOfFour() {
    try (Http2Connection client = connect(WINDOW)) {
      List<Integer> open = new ArrayList<>();
      int stream = client.get(FEED);
      int status = client.status(stream);
      while (status == 200) {
        open.add(stream);
        stream = client.get(FEED);
        status = client.status(stream);
      }
      assertThat(status).isEqualTo(503);
      assertThat(client.body(stream)).contains("Too many connections and requests are open.");
      open.forEach(client::cancel);
      for (int ignored : open) {
        assertThat(client.status(client.get(FEED))).isEqualTo(200);
      }
      return open;
    } catch (UncheckedIOException tooEarly) {
      return List.of(); // a connection of before is closed only now
    }
  }

  @Test
  void a_stop_ends_feeds_with_their_last_sequence() throws Exception {
    start(new TestSettings());
    try (Http2Connection client = connect(WINDOW)) {
      int feed = client.get(FEED);
      assertThat(client.status(feed)).isEqualTo(200);
      LectusServer stopping = server;
      CompletableFuture<Void> stopped = CompletableFuture.runAsync(stopping::close);
      Http2Connection.Frame last = client.next();
      while (last.stream() != feed) {
        last = client.next();
      }
      assertThat(new String(last.payload(), StandardCharsets.UTF_8)).contains("\"last_seq\"");
      stopped.get(30, TimeUnit.SECONDS);
    }
    server = LectusServer.start(stores.fresh());
  }

  /** As one of HTTP/1 it would be taken for idle, since it is longer than busy clients pause. */
  @Test
  void an_upgraded_connection_is_not_cut_in_an_upload_when_the_server_stops() throws Exception {
    start(new TestSettings());
    LectusServer stopping = server;
    Connection connection = server.connect();
    connection.write("GET / HTTP/1.1\r\n" + UPGRADE + "HTTP2-Settings: AAMAAABk\r\n\r\n");
    connection.readHead().expect(101);
    try (Http2Connection client = Http2Connection.upgraded(connection, WINDOW);
        Connection feed = server.connect()) {
      assertThat(client.status(1)).isEqualTo(200);
      byte[] upload = client.head("/w/a", ":method", "PUT", "content-length", "2");
      upload[FLAGS] = END_HEADERS;
      client.write(upload);
      feed.write("GET " + FEED.replace("60000", "600") + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
      feed.readHead();
      assertThat(feed.chunkText()).isEqualTo("\n"); // so much time has passed
      CompletableFuture<Void> stopped = CompletableFuture.runAsync(stopping::close);
      assertThat(client.goodbye()).isZero();
      client.write(frame(DATA, 1, 3, new byte[] {'{', '}'}));
      assertThat(client.status(3)).isEqualTo(201);
      stopped.get(30, TimeUnit.SECONDS);
    }
    server = LectusServer.start(stores.fresh());
  }

  @Test
  void a_stream_that_is_not_read_is_in_no_others_way() {
    start(new TestSettings());
    server.write("/w/large", "{\"v\":\"" + "x".repeat(1 << 20) + "\"}");
    try (Http2Connection client = connect(1_000)) {
      List<Integer> slow = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        slow.add(client.get("/w/large"));
        assertThat(client.status(slow.get(i))).isEqualTo(200);
        assertThat(client.next().payload()).hasSize(1_000);
      }
      int quick = client.get("/_up");
      assertThat(client.status(quick)).isEqualTo(200);
      assertThat(client.body(quick)).contains("ok");

      client.write(leave(0, 2 << 20)).write(leave(slow.get(0), 2 << 20));
      assertThat(client.body(slow.get(0)).length()).isGreaterThan((1 << 20) - 1_000);
    }
  }

  @Test
  void streams_that_are_not_read_give_way_when_others_lack_memory() {
    start(new TestSettings().pageMemoryBytes(4 << 20).stalledSeconds(1));
    server.write("/w/large", "{\"v\":\"" + "x".repeat(1 << 20) + "\"}");
    try (Http2Connection client = connect(1_000)) {
      client.write(leave(0, 1 << 30));
      int feed = client.get(FEED);
      assertThat(client.status(feed)).isEqualTo(200);
      int stream;
      do {
        stream = client.get("/w/large");
      } while (client.statusAmongOthers(stream) == 200);
      Await.until(
          "there is memory again",
          () -> {
            client.write(frame(PING, 0, 0, new byte[8])); // not idle as a whole
            return server.get("/w/large").status() == 200;
          });
      assertThat(client.statusAmongOthers(client.get("/_up"))).isEqualTo(200);
      server.write("/w/new", "{}");
      Http2Connection.Frame row = client.next();
      while (row.stream() != feed) {
        row = client.next();
      }
      assertThat(new String(row.payload(), StandardCharsets.UTF_8)).contains("\"id\":\"new\"");
    }
    assertThat(provoked()).isEqualTo("0");
  }

  @Test
  void tiny_leaves_are_used_up_one_by_one() {
    start(new TestSettings());
    try (Http2Connection client = connect(0)) {
      int stream = client.get("/");
      assertThat(client.status(stream)).isEqualTo(200);
      client.flood(leave(stream, 1), 2_000);
      assertThat(client.body(stream)).contains("Welcome");
    }
  }

  @Test
  void a_few_pings_are_answered() {
    start(new TestSettings());
    try (Http2Connection client = connect(WINDOW)) {
      client.flood(frame(PING, 0, 0, new byte[8]), 1_000);
      for (int answered = 0; answered < 1_000; ) {
        answered += client.read().type() == PING ? 1 : 0;
      }
      assertThat(client.status(client.get("/_up"))).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "6, 0, 8, 20000",
    "4, 0, 0, 20000",
    "2, 1, 5, 20000",
    "8, 0, 4, 100000",
    "99, 0, 8, 20000"
  })
  void floods_end_the_connection(int type, int stream, int length, int times) {
    start(new TestSettings());
    try (Http2Connection client = connect(WINDOW)) {
      byte[] payload = new byte[length];
      if (length > 0) {
        payload[length - 1] = 2;
      }
      assertThat(List.of(PING, SETTINGS, PRIORITY, Http2Connection.WINDOW_UPDATE, 99))
          .contains(type);
      assertThat(flooded(client, frame(type, 0, stream, payload), times))
          .isEqualTo(ENHANCE_YOUR_CALM);
    }
    server.get("/_up").expect(200);
  }

  /** The server may have closed the connection before the last frame is written. */
  private static int flooded(Http2Connection client, byte[] frame, int times) {
    Thread writer =
        new Thread(
            () -> {
              try {
                client.flood(frame, times);
              } catch (UncheckedIOException closed) {
                // The server's goodbye is read all the same.
              }
            });
    writer.start();
    return client.goodbye();
  }

  @Test
  void requests_that_are_given_up_at_once_end_the_connection() {
    start(new TestSettings());
    try (Http2Connection client = connect(WINDOW)) {
      ByteArrayOutputStream rapid = new ByteArrayOutputStream();
      for (int i = 0; i < 1_100; i++) {
        rapid.writeBytes(client.head("/w/_all_docs"));
        rapid.writeBytes(reset(2 * i + 1));
      }
      assertThat(flooded(client, rapid.toByteArray(), 1)).isEqualTo(ENHANCE_YOUR_CALM);
    }
    server.get("/_up").expect(200);
  }

  @Test
  void headers_that_are_too_long_fail_alone() {
    start(new TestSettings().maxHeaderBytes(2_048));
    try (Http2Connection client = connect(WINDOW)) {
      int feed = client.get(FEED, "x-padding", "p".repeat(1_500));
      assertThat(client.status(feed)).isEqualTo(200);
      assertThat(client.status(client.get("/_up", "x-padding", "p".repeat(2_200)))).isEqualTo(431);
      server.write("/w/a", "{}");
      Http2Connection.Frame row = client.next();
      while (row.stream() != feed) {
        row = client.next();
      }
      assertThat(new String(row.payload(), StandardCharsets.UTF_8)).contains("\"id\":\"a\"");
    }
  }

  private static final String UPGRADE =
      "Host: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n";

  @Test
  void a_request_may_ask_for_http_2() {
    start(new TestSettings());
    try (Connection client = server.connect()) {
      client.write("GET / HTTP/1.1\r\n" + UPGRADE + "HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n");
      client.readHead().expect(101);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "GET  |                                             | ",
        "GET  | HTTP2-Settings: ===                         | ",
        "GET  | HTTP2-Settings: AAMAAABkAAQAAP_             | ",
        "GET  | HTTP2-Settings: AAT_____                    | ",
        "GET  | HTTP2-Settings: AAMAAABk~HTTP2-Settings: AAMAAABk | ",
        "POST | HTTP2-Settings: AAMAAABk~Content-Length: 2  | {}",
        "POST | HTTP2-Settings: ===~Content-Length: 2       | {}",
        "POST | HTTP2-Settings: AAMAAABk~Transfer-Encoding: chunked | 2~{}~0~~",
      })
  void one_that_cannot_is_answered_as_if_it_had_not(String method, String fields, String body) {
    start(new TestSettings());
    String more = fields == null ? "" : fields.replace("~", "\r\n") + "\r\n";
    String sent = body == null ? "" : body.replace("~", "\r\n");
    try (Connection client = server.connect()) {
      String head = method + " /w HTTP/1.1\r\nContent-Type: application/json\r\n" + UPGRADE + more;
      client.write(head + "\r\n" + sent).read(false).expect(method.equals("GET") ? 200 : 201);
      client.write("GET /_up HTTP/1.1\r\nHost: localhost\r\n\r\n");
      client.read(false).expect(200);
    }
  }

  /** Vert.x reads the first line only. */
  @Test
  void one_that_asks_in_two_lines_is_answered_as_if_it_had_not() {
    start(new TestSettings());
    try (Connection client = server.connect()) {
      for (int i = 0; i < 2; i++) {
        client.write(
            "GET /_up HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
                + "Connection: HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n");
        client.read(false).expect(200);
      }
    }
  }

  @Test
  void one_that_goes_on_with_something_else_is_closed() {
    start(new TestSettings());
    try (Connection client = server.connect()) {
      client.write("GET / HTTP/1.1\r\n" + UPGRADE + "HTTP2-Settings: AAMAAABk\r\n\r\n");
      client.readHead().expect(101);
      client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").readToEnd();
    }
  }

  private static final TestSettings ANNOUNCED =
      new TestSettings().with(ProxyKeys.PROXY_PROTOCOL, "127.0.0.1");

  private void startBehindProxy() {
    server = LectusServer.start(stores.fresh(), ANNOUNCED);
    try (Connection proxy = announced("192.0.2.1")) {
      proxy.write("PUT /w HTTP/1.1\r\nHost: localhost\r\n\r\n");
      proxy.read(false).expect(201);
    }
  }

  private Connection announced(String client) {
    return server.connect().write("PROXY TCP4 " + client + " 192.0.2.99 4711 5984\r\n");
  }

  private static int up(Connection client) {
    client.write("GET /_up HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return client.read(false).status();
  }

  /** "MadeYouReset": a client has its requests reset and connects anew. */
  @Test
  void resets_that_a_client_provokes_are_counted_over_its_connections() {
    startBehindProxy();
    int each = 400;
    int connections = 0;
    try {
      while (connections < 10) {
        connections++;
        provokeResets(announced("192.0.2.7"), each);
      }
    } catch (UncheckedIOException ended) {
      // Refused while it wrote, or closed before it had read everything.
    }
    assertThat(connections).isEqualTo(1_000 / each + 1);
    try (Connection refused = announced("192.0.2.7")) {
      refused.write("GET /_up HTTP/1.1\r\nHost: h\r\n\r\n");
      assertThat(refused.isAtEnd()).isTrue();
    }
    try (Connection other = announced("192.0.2.8");
        Connection proxy = server.connect().write("PROXY UNKNOWN\r\n")) {
      assertThat(up(other)).isEqualTo(200);
      assertThat(up(proxy)).isEqualTo(200);
    }
  }

  /** From loopback all clients of a proxy on this machine may come. */
  @Test
  void those_of_an_address_that_clients_share_end_only_the_connection() {
    start(new TestSettings());
    for (int i = 0; i < 3; i++) {
      provokeResets(server.connect(), 400);
    }
    assertThat(provoked()).isEqualTo("1200");
    assertThatThrownBy(() -> provokeResets(server.connect(), 1_001))
        .isInstanceOf(UncheckedIOException.class);
    server.get("/_up").expect(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/w/a", "/w/a/attachment"})
  void a_reset_that_the_server_makes_by_itself_is_not_counted(String target) {
    start(new TestSettings());
    try (Http2Connection client = connect(WINDOW)) {
      byte[] upload = client.head(target, ":method", "PUT", "content-length", "" + (1L << 40));
      upload[FLAGS] = END_HEADERS;
      client.write(upload);
      assertThat(client.status(1)).isEqualTo(413);
      Http2Connection.Frame frame = client.next();
      while (frame.type() != RST_STREAM) {
        frame = client.next();
      }
      assertThat(client.status(client.get("/_up"))).isEqualTo(200);
    }
    assertThat(provoked()).isEqualTo("0");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void a_client_that_does_not_want_its_answers_any_more_provokes_nothing(boolean leaves) {
    start(new TestSettings());
    server.write("/w/large", "{\"v\":\"" + "x".repeat(100_000) + "\"}");
    try (Http2Connection client = connect(1_000)) {
      for (int i = 0; i < 10; i++) {
        int stream = client.get("/w/large");
        assertThat(client.statusAmongOthers(stream)).isEqualTo(200);
        if (!leaves) {
          client.write(reset(stream));
        }
      }
      if (!leaves) {
        assertThat(client.statusAmongOthers(client.get("/_up"))).isEqualTo(200);
      }
    }
    Await.until("its connection is closed", () -> figure(CONNECTIONS).equals("1"));
    assertThat(provoked()).isEqualTo("0");
  }

  private String provoked() {
    return figure(PROVOKED);
  }

  private String figure(Pattern line) {
    Matcher figure = line.matcher(server.get("/_node/_local/_prometheus").body());
    assertThat(figure.find()).isTrue();
    return figure.group(1);
  }

  private static void provokeResets(Connection connection, int times) {
    try (Http2Connection hostile = new Http2Connection(connection, WINDOW)) {
      for (int i = 0; i < times; i++) {
        int feed = hostile.get(FEED);
        hostile.write(leave(feed, 0));
        Http2Connection.Frame frame = hostile.next();
        while (frame.type() != RST_STREAM) {
          frame = hostile.next();
        }
      }
    }
  }

  @Test
  void a_server_that_stops_says_goodbye() {
    start(new TestSettings());
    LectusServer stopping = LectusServer.start(stores.fresh());
    stopping.put("/w");
    try (Http2Connection connection = new Http2Connection(stopping.connect(), WINDOW)) {
      int feed = connection.get(FEED);
      assertThat(connection.status(feed)).isEqualTo(200);
      CompletableFuture<Void> stopped = CompletableFuture.runAsync(stopping::close);
      assertThat(connection.goodbye()).isZero();
      stopped.join();
    }
  }

  /** A connection on which frames of HTTP/2 are written and read one by one (RFC 9113). */
  static final class Http2Connection implements AutoCloseable {
    public static final int DATA = 0;
    public static final int HEADERS = 1;
    public static final int PRIORITY = 2;
    public static final int RST_STREAM = 3;
    public static final int SETTINGS = 4;
    public static final int PING = 6;
    public static final int GOAWAY = 7;
    public static final int WINDOW_UPDATE = 8;

    public static final int CANCEL = 8;
    public static final int REFUSED_STREAM = 7;
    public static final int ENHANCE_YOUR_CALM = 11;

    private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;
    private static final int HAS_PRIORITY = 0x20;
    private static final int PRIORITY_BYTES = 5;
    private static final int ACKNOWLEDGEMENT = 1;

    private final Connection connection;
    private final DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
    private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false);
    private int lastStream = -1;
    private int lastStatus;

    /** A frame of the server. */
    public record Frame(int type, int flags, int stream, byte[] payload) {
      /** Returns the code of a GOAWAY or RST_STREAM. */
      public int code() {
        ByteBuffer bytes = ByteBuffer.wrap(payload);
        return bytes.getInt(type == GOAWAY ? 4 : 0);
      }

      public boolean endsStream() {
        return (type == DATA || type == HEADERS) && (flags & END_STREAM) != 0;
      }
    }

    /**
     * Begins to speak HTTP/2, as a client that knows that the server does.
     *
     * @param windowBytes how much the server may send on each stream before it is given more leave
     */
    public Http2Connection(Connection connection, int windowBytes) {
      this.connection = connection;
      connection.write(PREFACE);
      byte[] initialWindow = ByteBuffer.allocate(6).putChar((char) 4).putInt(windowBytes).array();
      write(frame(SETTINGS, 0, 0, initialWindow));
    }

    /** Goes on with a connection whose first request was answered 101; it has become stream 1. */
    public static Http2Connection upgraded(Connection connection, int windowBytes) {
      Http2Connection upgraded = new Http2Connection(connection, windowBytes);
      upgraded.lastStream = 1;
      return upgraded;
    }

    public static byte[] frame(int type, int flags, int stream, byte[] payload) {
      return ByteBuffer.allocate(9 + payload.length)
          .putInt(payload.length << 8 | type)
          .put((byte) flags)
          .putInt(stream)
          .put(payload)
          .array();
    }

    public Http2Connection write(byte[] frames) {
      connection.write(frames);
      return this;
    }

    /** Writes the same frame many times. */
    public Http2Connection flood(byte[] frame, int times) {
      ByteArrayOutputStream many = new ByteArrayOutputStream();
      for (int i = 0; i < times; i++) {
        many.writeBytes(frame);
      }
      return write(many.toByteArray());
    }

    /** Sends a request without a body and returns the number of its stream. */
    public int get(String path, String... headers) {
      write(head(path, headers));
      return lastStream;
    }

    /**
     * Returns a request's head in a frame, for the next stream.
     *
     * @param headers names and values; {@code :method} takes GET's place
     */
    public byte[] head(String path, String... headers) {
      Http2Headers head =
          new DefaultHttp2Headers().method("GET").scheme("http").authority("localhost").path(path);
      for (int i = 0; i < headers.length; i += 2) {
        head.set(headers[i], headers[i + 1]);
      }
      lastStream += 2;
      ByteBuf block = Unpooled.buffer();
      try {
        encoder.encodeHeaders(lastStream, head, block);
      } catch (Http2Exception e) {
        throw new IllegalStateException(e);
      }
      return frame(HEADERS, END_HEADERS | END_STREAM, lastStream, ByteBufUtil.getBytes(block));
    }

    public Http2Connection cancel(int stream) {
      return write(reset(stream));
    }

    public static byte[] reset(int stream) {
      return frame(RST_STREAM, 0, stream, ByteBuffer.allocate(4).putInt(CANCEL).array());
    }

    /** Lets the server send more on a stream; 0: on all together. */
    public static byte[] leave(int stream, int bytes) {
      return frame(WINDOW_UPDATE, 0, stream, ByteBuffer.allocate(4).putInt(bytes).array());
    }

    /** Returns the next frame that is not one of the connection's own housekeeping. */
    public Frame next() {
      while (true) {
        Frame frame = read();
        boolean isHousekeeping =
            frame.type() == SETTINGS || frame.type() == WINDOW_UPDATE || frame.type() == PING;
        if (!isHousekeeping) {
          return frame;
        }
      }
    }

    /** Returns the next frame; settings of the server are acknowledged. */
    public Frame read() {
      ByteBuffer head = ByteBuffer.wrap(connection.bytes(9));
      int lengthAndType = head.getInt();
      int flags = head.get();
      Frame frame =
          new Frame(
              lengthAndType & 0xff, flags, head.getInt(), connection.bytes(lengthAndType >>> 8));
      if (frame.type() == SETTINGS && (flags & ACKNOWLEDGEMENT) == 0) {
        acknowledge();
      }
      if (frame.type() == HEADERS) {
        lastStatus = decoded(frame);
      }
      return frame;
    }

    private void acknowledge() {
      try {
        write(frame(SETTINGS, ACKNOWLEDGEMENT, 0, new byte[0]));
      } catch (UncheckedIOException closed) {
        // The server has closed the connection, and its goodbye is still to be read.
      }
    }

    /** Reads until the server says goodbye, and returns why. */
    public int goodbye() {
      Frame frame = read();
      while (frame.type() != GOAWAY) {
        frame = read();
      }
      return frame.code();
    }

    /** Returns the status of the next frame, which must be a head of this stream. */
    public int status(int stream) {
      Frame frame = next();
      if (frame.type() != HEADERS || frame.stream() != stream) {
        throw new IllegalStateException("Not the head of stream " + stream + ": " + frame);
      }
      return lastStatus;
    }

    /** Returns the status of this stream; what comes on others before it is lost. */
    public int statusAmongOthers(int stream) {
      Frame frame = next();
      while (frame.type() != HEADERS || frame.stream() != stream) {
        frame = next();
      }
      return lastStatus;
    }

    private int decoded(Frame head) {
      try {
        ByteBuf block = Unpooled.wrappedBuffer(head.payload());
        block.skipBytes((head.flags() & HAS_PRIORITY) == 0 ? 0 : PRIORITY_BYTES);
        Http2Headers headers = decoder.decodeHeaders(head.stream(), block);
        return Integer.parseInt(headers.status().toString());
      } catch (Http2Exception e) {
        throw new IllegalStateException(e);
      }
    }

    /** Returns the rest of a stream's body; nothing may come on other streams meanwhile. */
    public String body(int stream) {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      Frame frame;
      do {
        frame = next();
        if (frame.type() != DATA || frame.stream() != stream) {
          throw new IllegalStateException("Not the body of stream " + stream + ": " + frame);
        }
        body.writeBytes(frame.payload());
      } while (!frame.endsStream());
      return body.toString(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
      connection.close();
    }
  }
}
