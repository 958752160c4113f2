package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.WebSocketFrame;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import lectus.changes.filter.FeedFilter;
import lectus.changes.notify.StorePosition;
import lectus.changes.page.ChangesReader;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.FeedPosition;
import lectus.changes.page.Since;
import lectus.config.WebSocketKeys;
import lectus.database.DatabaseName;
import lectus.http.HttpSettings.WebSocketSettings;
import lectus.http.changes.ClientMessage.Credit;
import lectus.http.changes.ClientMessage.Malformed;
import lectus.http.changes.ClientMessage.ManyNames;
import lectus.http.changes.ClientMessage.OneDatabase;
import lectus.http.changes.ClientMessage.Subscribe;
import lectus.http.changes.ClientMessage.Unsubscribe;
import lectus.http.changes.LiveListener.FeedTerms;
import lectus.http.limits.IdleClock;
import lectus.http.limits.MemoryAccount;
import lectus.http.testing.Connection;
import lectus.http.testing.Frames;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.http.testing.TestSettings;
import lectus.json.FieldPath;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The layer below messages: frames, their limits, pings, and close codes. */
final class SocketFramesTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final int MAX_MESSAGE_BYTES = 70_000;

  private static LectusServer server;

  @BeforeAll
  static void start() {
    server = LectusServer.start(stores.fresh(), settings());
    server.put("/x");
    server.write("/x/p", "{}");
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static SocketClient client() {
    return SocketClient.connect(server, "/_changes", "lectus.changes.v1");
  }

  private static TestSettings settings() {
    return new TestSettings()
        .with(WebSocketKeys.MAX_MESSAGE_BYTES, MAX_MESSAGE_BYTES)
        .with(WebSocketKeys.MAX_SUBSCRIPTIONS, 3);
  }

  /** One that gives up clients of which it hears nothing for two seconds. */
  private static LectusServer impatient() {
    return LectusServer.start(stores.fresh(), settings().impatientWithWebSockets());
  }

  /** Returns a socket on which frames are written byte for byte. */
  private static Connection raw() {
    return raw(server);
  }

  private static Connection raw(LectusServer to) {
    Connection connection =
        to.request(
                "GET",
                "/_changes",
                "Connection",
                "Upgrade",
                "Upgrade",
                "websocket",
                "Sec-WebSocket-Version",
                "13",
                "Sec-WebSocket-Key",
                "dGhlIHNhbXBsZSBub25jZQ==",
                "Sec-WebSocket-Protocol",
                "lectus.changes.v1")
            .open();
    connection.readHead().expect(101);
    return connection;
  }

  /** Returns the code of the next close frame, after which the server ends the connection. */
  private static int closeCode(Connection connection) {
    Connection.Frame frame = connection.frame();
    while (frame.opcode() == Frames.PING) {
      frame = connection.frame();
    }
    assertThat(frame.opcode()).isEqualTo(Frames.CLOSE);
    byte[] payload = frame.payload();
    connection.write(Frames.masked(Frames.CLOSE, true, Arrays.copyOf(payload, 2)));
    assertThat(connection.isAtEnd()).isTrue();
    return (payload[0] & 0xff) << 8 | (payload[1] & 0xff);
  }

  private static int closeCodeAfter(byte[]... frames) {
    try (Connection connection = raw()) {
      for (byte[] frame : frames) {
        connection.write(frame);
      }
      return closeCode(connection);
    }
  }

  /** Returns a message of so many bytes that is answered, because it is unknown. */
  private static String message(int bytes) {
    String head = "{\"type\":\"";
    String tail = "\"}";
    return head + "t".repeat(bytes - head.length() - tail.length()) + tail;
  }

  @Test
  void a_message_may_be_as_long_as_the_limit() {
    try (SocketClient client = client()) {
      client.send(WebSocketFrame.textFrame(message(MAX_MESSAGE_BYTES), true));
      assertThat(client.message("error", "error")).isEqualTo("bad_request");
    }
  }

  @Test
  void a_longer_message_is_1009() {
    try (SocketClient client = client()) {
      client.send(WebSocketFrame.textFrame(message(MAX_MESSAGE_BYTES + 1), true));
      assertThat(client.closeCode()).isEqualTo(1009);
      assertThat(client.isSilent()).isTrue();
    }
  }

  @Test
  void a_message_in_frames_is_joined_up_to_the_limit() {
    byte[] bytes = message(MAX_MESSAGE_BYTES).getBytes(StandardCharsets.UTF_8);
    try (SocketClient client = client()) {
      client.send(WebSocketFrame.textFrame("", false));
      client.send(continuation(bytes, 0, 10_000, false));
      client.send(WebSocketFrame.pingFrame(Buffer.buffer("between")));
      client.send(continuation(bytes, 10_000, bytes.length, true));
      assertThat(client.message("error", "error")).isEqualTo("bad_request");
    }
  }

  @Test
  void a_longer_message_in_frames_is_1009() {
    byte[] bytes = message(MAX_MESSAGE_BYTES + 1).getBytes(StandardCharsets.UTF_8);
    try (SocketClient client = client()) {
      client.send(WebSocketFrame.textFrame(message(10_000), false));
      client.send(continuation(bytes, 10_000, bytes.length, false));
      assertThat(client.closeCode()).isEqualTo(1009);
      assertThat(client.isSilent()).isTrue();
    }
  }

  private static WebSocketFrame continuation(byte[] bytes, int from, int to, boolean last) {
    return WebSocketFrame.continuationFrame(
        Buffer.buffer(Arrays.copyOfRange(bytes, from, to)), last);
  }

  @Test
  void a_binary_message_is_1003() {
    try (SocketClient client = client()) {
      client.sendBinary(new byte[] {1, 2, 3});
      assertThat(client.closeCode()).isEqualTo(1003);
    }
  }

  @Test
  void text_that_is_not_utf_8_is_1007() {
    assertThat(closeCodeAfter(Frames.masked(Frames.TEXT, true, new byte[] {'"', (byte) 0xff, '"'})))
        .isEqualTo(1007);
  }

  @Test
  void a_character_may_lie_in_two_frames() {
    byte[] text = "{\"type\":\"ü\"}".getBytes(StandardCharsets.UTF_8);
    int inside = 10;
    try (Connection connection = raw()) {
      connection.write(Frames.masked(Frames.TEXT, false, Arrays.copyOf(text, inside)));
      connection.write(
          Frames.masked(Frames.CONTINUATION, true, Arrays.copyOfRange(text, inside, text.length)));
      assertThat(new String(connection.frame().payload(), StandardCharsets.UTF_8))
          .contains("\"error\":\"bad_request\"");
    }
  }

  @Test
  void frames_that_are_none_are_1002() {
    byte[] hello = "{}".getBytes(StandardCharsets.UTF_8);
    assertThat(closeCodeAfter(Frames.unmasked(Frames.TEXT, hello))).isEqualTo(1002);
    assertThat(closeCodeAfter(Frames.frame(0xc0 | Frames.TEXT, true, hello))).isEqualTo(1002);
    assertThat(closeCodeAfter(Frames.masked(3, true, hello))).isEqualTo(1002);
    assertThat(closeCodeAfter(Frames.masked(11, true, hello))).isEqualTo(1002);
    assertThat(closeCodeAfter(Frames.masked(Frames.CONTINUATION, true, hello))).isEqualTo(1002);
    assertThat(
            closeCodeAfter(
                Frames.masked(Frames.TEXT, false, hello), Frames.masked(Frames.TEXT, true, hello)))
        .isEqualTo(1002);
    assertThat(closeCodeAfter(Frames.masked(Frames.PING, false, hello))).isEqualTo(1002);
    assertThat(closeCodeAfter(Frames.masked(Frames.PING, true, new byte[126]))).isEqualTo(1002);
  }

  @Test
  void a_goodbye_is_answered_in_kind() {
    assertThat(closeCodeAfter(Frames.masked(Frames.CLOSE, true, new byte[] {0x03, (byte) 0xe8})))
        .isEqualTo(1000);
  }

  @ParameterizedTest
  @ValueSource(ints = {1000, 1003, 1007, 1014, 3000, 4999})
  void a_goodbye_with_a_code_that_may_be_sent_has_it_back(int code) {
    assertThat(closeCodeAfter(goodbye(code))).isEqualTo(code);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 15_605, 49_883, 65_535})
  void a_goodbye_with_a_code_that_must_not_be_sent_is_1002(int code) {
    assertThat(closeCodeAfter(goodbye(code))).isEqualTo(1002);
  }

  @Test
  void a_goodbye_of_one_byte_is_1002() {
    assertThat(closeCodeAfter(Frames.masked(Frames.CLOSE, true, new byte[] {3}))).isEqualTo(1002);
  }

  private static byte[] goodbye(int code) {
    byte[] payload = {(byte) (code >>> 8), (byte) code};
    return Frames.masked(Frames.CLOSE, true, payload);
  }

  @Test
  void a_ping_is_answered_with_its_own_words() {
    try (Connection connection = raw()) {
      connection.write(Frames.masked(Frames.PING, true, new byte[] {7, 8, 9}));
      Connection.Frame pong = connection.frame();
      assertThat(pong.opcode()).isEqualTo(Frames.PONG);
      assertThat(pong.payload()).containsExactly(7, 8, 9);
    }
  }

  @Test
  void a_client_that_is_silent_is_given_up() {
    try (LectusServer impatient = impatient();
        Connection connection = raw(impatient)) {
      assertThat(connection.frame().opcode()).isEqualTo(Frames.PING);
      assertThat(closeCode(connection)).isEqualTo(1001);
    }
  }

  @Test
  void a_client_that_answers_pings_stays() {
    try (LectusServer impatient = impatient();
        Connection connection = raw(impatient)) {
      for (int pings = 0; pings < 3; pings++) {
        assertThat(connection.frame().opcode()).isEqualTo(Frames.PING);
        connection.write(Frames.masked(Frames.PONG, true, new byte[0]));
      }
    }
  }

  /** While its answers wait, the client is not read; afterwards it is. */
  @Test
  void a_client_that_talks_before_it_listens_is_answered_in_order() throws InterruptedException {
    int count = 30_000;
    try (Connection connection = raw()) {
      Thread talking = new Thread(() -> unsubscribe(connection, count));
      talking.start();
      for (int id = 0; id < count; ) {
        Connection.Frame frame = connection.frame();
        if (frame.opcode() == Frames.TEXT) {
          assertThat(new String(frame.payload(), StandardCharsets.UTF_8))
              .startsWith("{\"type\":\"error\",\"id\":\"" + id++ + "\",\"error\":\"not_found\"");
        }
      }
      talking.join();
    }
  }

  private static void unsubscribe(Connection connection, int count) {
    for (int id = 0; id < count; id++) {
      connection.write(Frames.text("{\"type\":\"unsubscribe\",\"id\":\"" + id + "\"}"));
    }
  }

  @Test
  void subscriptions_are_limited() {
    try (SocketClient client = client()) {
      for (int i = 0; i < 3; i++) {
        client.send("{\"type\":\"subscribe\",\"id\":\"" + i + "\",\"db\":\"x\",\"credits\":0}");
      }
      client.send("{\"type\":\"subscribe\",\"id\":\"3\",\"db\":\"x\"}");
      assertThat(client.message("error", "error")).isEqualTo("too_many_subscriptions");

      client.send("{\"type\":\"unsubscribe\",\"id\":\"0\"}");
      assertThat(client.message("end", "id")).isEqualTo("0");
      client.send("{\"type\":\"subscribe\",\"id\":\"3\",\"db\":\"x\"}");
      assertThat(client.message("row", "id")).isEqualTo("3");
    }
  }

  /** Parses JSON with apostrophes for quotes. */
  private static ClientMessage parse(String json) {
    return ClientMessage.parse(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }

  private static Subscribe subscribe(String members) {
    return (Subscribe) parse("{'type':'subscribe','id':'a'," + members + "}");
  }

  private static String complaint(String json) {
    return ((Malformed) parse(json)).error().reason();
  }

  @Test
  void a_subscription_without_wishes() {
    Subscribe plain = subscribe("'db':'x'");
    assertThat(plain.id()).isEqualTo("a");
    assertThat(plain.scope())
        .isEqualTo(new OneDatabase(DatabaseName.of("x"), Since.after(FeedPosition.BEGINNING)));
    assertThat(plain.options().compile()).isEqualTo(FeedOptions.DEFAULT);
    assertThat(plain.options().memory()).isZero();
    assertThat(plain.terms())
        .isEqualTo(
            new FeedTerms(ChangesReader.NO_LIMIT, OptionalLong.empty(), OptionalLong.empty()));
    assertThat(plain.credits()).isEmpty();
  }

  @Test
  void a_subscription_with_all_wishes() {
    Subscribe wanted =
        subscribe(
            "'db':'x','since':'now','include_docs':true,'conflicts':true,'style':'all_docs',"
                + "'doc_ids':['p','q'],'limit':7,'heartbeat':5000,'credits':1000");

    assertThat(wanted.options().compile())
        .isEqualTo(
            new FeedOptions(true, true, true, new FeedFilter.DocumentIds(Set.of("p", "q")), 1));
    assertThat(wanted.terms().limit()).isEqualTo(7);
    assertThat(wanted.terms().heartbeatMillis()).hasValue(5_000);
    assertThat(wanted.credits()).hasValue(1000);
  }

  @Test
  void a_selector_and_fields() {
    FeedOptions options =
        subscribe("'db':'x','selector':{'v':{'$gt':1}},'fields':['v','w.x']").options().compile();

    assertThat(options.filter()).isInstanceOf(FeedFilter.Selected.class);
    assertThat(options.fields())
        .containsExactly(FieldPath.parse("v"), new FieldPath(List.of("w", "x")));
    String subscribe = "{'type':'subscribe','id':'a','db':'x',";
    assertThat(complaint(subscribe + "'selector':{},'doc_ids':[]}"))
        .isEqualTo("A subscription has one of `selector`, `doc_ids`, `feed` and `filter`.");
  }

  /** Lengthy checks are done when the subscription opens. */
  @Test
  void a_filter_is_not_compiled_yet() {
    assertThatThrownBy(subscribe("'db':'x','selector':{'$foo':1}").options()::compile)
        .hasMessageContaining("Invalid operator: $foo");
    assertThatThrownBy(subscribe("'db':'x','fields':'v'").options()::compile)
        .hasMessageContaining("Selector error: fields must be JSON array");
    assertThatThrownBy(subscribe("'db':'x','doc_ids':[1]").options()::compile)
        .hasMessageContaining("not a list of doc ids");
  }

  @Test
  void a_pattern_and_a_list_are_many_databases_even_of_one() {
    assertThat(subscribe("'db':'user-*'").scope())
        .isEqualTo(new ManyNames(List.of("user-*"), Since.after(StorePosition.BEGINNING)));
    assertThat(subscribe("'db':['x'],'since':'now'").scope())
        .isEqualTo(new ManyNames(List.of("x"), Since.now()));
  }

  @ParameterizedTest
  @CsvSource({"true, 60000", "1, 1000", "1001, 1001", "2147483647, 86400000"})
  void heartbeats(String json, long millis) {
    assertThat(subscribe("'db':'x','heartbeat':" + json).terms().heartbeatMillis())
        .hasValue(millis);
  }

  @Test
  void no_heartbeat() {
    assertThat(subscribe("'db':'x','heartbeat':false").terms().heartbeatMillis()).isEmpty();
  }

  @Test
  void since_may_be_the_number_zero() {
    assertThat(subscribe("'db':'x','since':0").scope())
        .isEqualTo(new OneDatabase(DatabaseName.of("x"), Since.after(FeedPosition.BEGINNING)));
  }

  @Test
  void credit_and_unsubscribe() {
    assertThat(parse("{'type':'credit','id':'a','n':500}")).isEqualTo(new Credit("a", 500));
    assertThat(parse("{'type':'unsubscribe','id':'a'}")).isEqualTo(new Unsubscribe("a"));
  }

  @Test
  void an_id_has_1_to_128_characters() {
    String longest = "i".repeat(128);
    assertThat(parse("{'type':'unsubscribe','id':'" + longest + "'}"))
        .isEqualTo(new Unsubscribe(longest));
    String complaint = "`id` must be a string of 1 to 128 characters.";
    assertThat(complaint("{'type':'unsubscribe','id':'" + longest + "i'}")).isEqualTo(complaint);
    assertThat(complaint("{'type':'unsubscribe','id':''}")).isEqualTo(complaint);
  }

  @Test
  void credits_are_whole_numbers_up_to_a_billion() {
    assertThat(subscribe("'db':'x','credits':0").credits()).hasValue(0);
    assertThat(subscribe("'db':'x','credits':1000000000").credits()).hasValue(1000000000);
    for (String bad :
        List.of("-1", "1000000001", "1.5", "1e3", "'1'", "null", "99999999999999999999")) {
      assertThat(complaint("{'type':'subscribe','id':'a','db':'x','credits':" + bad + "}"))
          .isEqualTo("`credits` must be a whole number from 0 to 1000000000.");
    }
  }

  @Test
  void more_credits_are_at_least_one() {
    assertThat(parse("{'type':'credit','id':'a','n':1}")).isEqualTo(new Credit("a", 1));
    assertThat(parse("{'type':'credit','id':'a','n':1000000000}"))
        .isEqualTo(new Credit("a", 1000000000));
    for (String bad : List.of("0", "-5", "1000000001", "true", "[1]")) {
      assertThat(complaint("{'type':'credit','id':'a','n':" + bad + "}"))
          .isEqualTo("`n` must be a whole number from 1 to 1000000000.");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "nothing",
        "[]",
        "'text'",
        "17",
        "{'type':'subscribe'",
        "{} {}",
        "{'type':'subscribe',}"
      })
  void what_is_no_object_has_no_id(String text) {
    assertThat(parse(text))
        .isInstanceOfSatisfying(
            Malformed.class,
            malformed -> {
              assertThat(malformed.id()).isEmpty();
              assertThat(malformed.error().error()).isEqualTo("bad_request");
            });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "{'id':'a'} | `type` is missing.",
        "{'type':7,'id':'a'} | `type` must be a string.",
        "{'type':'row','id':'a'} | `type` must be subscribe, credit or unsubscribe.",
        "{'type':'credit','id':'a'} | `n` is missing.",
        "{'type':'credit','id':'a','n':1,'m':1} | A message of this type has no member `m`.",
        "{'type':'unsubscribe','id':'a','n':1} | A message of this type has no member `n`.",
        "{'type':'subscribe','id':'a'} | `db` is missing.",
        "{'type':'subscribe','id':'a','db':[]} | `db` must be the name of a database, a pattern"
            + " such as \"user-*\", or a list of these.",
        "{'type':'subscribe','id':'a','db':['x',1]} | `db` must be a string.",
        "{'type':'subscribe','id':'a','db':'*','since':'14000000000017f4b100000000'} | Malformed"
            + " sequence supplied in 'since' parameter.",
        "{'type':'subscribe','id':'a','db':'x','since':'0000000017f4b10000000000'} | Malformed"
            + " sequence supplied in 'since' parameter.",
        "{'type':'subscribe','id':'a','db':'x','since':1} | `since` must be a string.",
        "{'type':'subscribe','id':'a','db':'x','since':'1-x'} | Malformed sequence supplied in"
            + " 'since' parameter.",
        "{'type':'subscribe','id':'a','db':'x','include_docs':'true'} | `include_docs` must be"
            + " true or false.",
        "{'type':'subscribe','id':'a','db':'x','style':'none'} | The style should be main_only or"
            + " all_docs",
        "{'type':'subscribe','id':'a','db':'x','heartbeat':0} | `heartbeat` must be a whole number"
            + " from 1 to 2147483647.",
        "{'type':'subscribe','id':'a','db':'x','include_doc':true} | A message of this type has no"
            + " member `include_doc`.",
      })
  void what_is_wrong_with_a_message_of_known_id(String json, String complaint) {
    Malformed malformed = (Malformed) parse(json);
    assertThat(malformed.id()).isEqualTo(Optional.of("a"));
    assertThat(malformed.error().reason()).isEqualTo(complaint);
  }

  @Test
  void a_list_of_databases_has_a_limit_for_names_and_one_for_patterns() {
    assertThat(parse(listing(10_000, 1_000))).isInstanceOf(Subscribe.class);
    Malformed names = (Malformed) parse(listing(10_001, 0));
    assertThat(names.error().error()).isEqualTo("bad_request");
    assertThat(names.error().reason()).isEqualTo("`db` may have 10000 names.");
    Malformed patterns = (Malformed) parse(listing(0, 1_001));
    assertThat(patterns.error().error()).isEqualTo("bad_request");
    assertThat(patterns.error().reason()).isEqualTo("`db` may have 1000 patterns.");
  }

  private static String listing(int names, int patterns) {
    return Stream.concat(
            IntStream.range(0, names).mapToObj(i -> "'n" + i + "'"),
            IntStream.range(0, patterns).mapToObj(i -> "'p" + i + "*'"))
        .collect(Collectors.joining(",", "{'type':'subscribe','id':'a','db':[", "]}"));
  }

  /** Each takes memory beside its text. */
  @Test
  void the_names_of_many_databases_take_memory() {
    assertThat(subscribe("'db':'xyz'").scope().memory()).isZero();
    assertThat(subscribe("'db':['xyz','a*']").scope().memory()).isEqualTo(2 * 400 + 5);
  }

  @Test
  void a_pattern_of_what_cannot_be_is_found_when_the_subscription_opens() {
    ManyNames scope = (ManyNames) subscribe("'db':'No*'").scope();
    assertThatThrownBy(scope::compile).hasMessageContaining("illegal_database_name");
  }

  @Test
  void a_database_that_cannot_be() {
    Malformed malformed = (Malformed) parse("{'type':'subscribe','id':'a','db':'No'}");
    assertThat(malformed.error().error()).isEqualTo("illegal_database_name");
  }

  /** Rare cases of a socket: messages that cannot be handled, clients that do not read. */
  @Nested
  class RareCases {
    private static final WebSocketSettings SETTINGS = new WebSocketSettings(200_000, 1, 55, 120, 1);
    private static final byte[] DRAINED = "drained".getBytes(StandardCharsets.UTF_8);
    private static final long SELDOM_MILLIS = 55_000;

    private final MemoryAccount messages = new MemoryAccount(300_000, "Too much is held.");
    private final Vertx vertx = Vertx.vertx();
    private final CompletableFuture<TextSocket> opened = new CompletableFuture<>();
    private final CompletableFuture<Context> loop = new CompletableFuture<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    @AfterEach
    void stop() {
      vertx.close().await();
    }

    /** Returns the port of a server that answers each message in this way. */
    private int serve(Runnable answer, long pingMillis) {
      return vertx
          .createHttpServer(new HttpServerOptions().setMaxWebSocketFrameSize(200_000))
          .webSocketHandler(
              webSocket -> {
                TextSocket socket =
                    new TextSocket(
                        vertx,
                        new IdleClock(),
                        webSocket,
                        SETTINGS,
                        messages,
                        pingMillis,
                        () -> {});
                socket.start(new Answering(answer));
                loop.complete(Vertx.currentContext());
                opened.complete(socket);
              })
          .listen(0, "127.0.0.1")
          .await()
          .actualPort();
    }

    private final class Answering implements TextSocket.Listener {
      private final Runnable answer;

      Answering(Runnable answer) {
        this.answer = answer;
      }

      @Override
      public void received(byte[] utf8) {
        answer.run();
      }

      @Override
      public void closed() {
        closed.complete(null);
      }
    }

    @Test
    void a_defect_is_1011_and_the_end_of_the_conversation() throws Exception {
      Runnable broken =
          () -> {
            throw new IllegalStateException("broken");
          };
      try (SocketClient client = SocketClient.connect(serve(broken, SELDOM_MILLIS), "/")) {
        client.send("{}");
        assertThat(client.closeCode()).isEqualTo(1011);
        closed.get(30, TimeUnit.SECONDS);
        assertThat(client.isSilent()).isTrue();
      }
    }

    @Test
    void it_is_full_when_64_kb_wait_and_has_room_when_they_were_taken() throws Exception {
      try (Connection client = rawClient(SELDOM_MILLIS)) {
        TextSocket socket = opened.get(30, TimeUnit.SECONDS);
        CompletableFuture<Boolean> full = new CompletableFuture<>();
        CompletableFuture<Boolean> room = new CompletableFuture<>();
        loop.join()
            .runOnContext(
                none -> {
                  socket.send(new byte[64 << 20]);
                  full.complete(socket.isFull());
                  socket.whenDrained(() -> room.complete(!socket.isFull()));
                });
        assertThat(full.get(30, TimeUnit.SECONDS)).isTrue();
        awaitTicks(20);
        assertThat(room).isNotDone();
        assertThat(client.frame().payload()).hasSize(64 << 20);
        assertThat(room.get(30, TimeUnit.SECONDS)).isTrue();
      }
    }

    private Connection rawClient(long pingMillis) {
      return upgraded(new Connection(serve(() -> {}, pingMillis), 16 << 10));
    }

    private static Connection upgraded(Connection client) {
      client.write(
          "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
              + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
      client.readHead().expect(101);
      return client;
    }

    /** Otherwise pings would pile up in memory behind what it does not read. */
    @Test
    void a_client_that_takes_nothing_is_not_pinged() throws Exception {
      int messages = 32;
      try (Connection client = rawClient(1)) {
        TextSocket socket = opened.get(30, TimeUnit.SECONDS);
        loop.join()
            .runOnContext(
                none -> {
                  for (int i = 0; i < messages; i++) {
                    socket.send(new byte[1 << 20]);
                  }
                  socket.whenDrained(() -> socket.send(DRAINED));
                });
        int ticks = 300;
        awaitTicks(ticks);

        Connection.Frame frame = client.frame();
        while (frame.opcode() == Frames.PING) {
          frame = client.frame();
        }
        int pings = 0;
        while (frame.payload().length != DRAINED.length) {
          frame = client.frame();
          pings += frame.opcode() == Frames.PING ? 1 : 0;
        }
        assertThat(pings).isLessThan(ticks / 3);
      }
    }

    /** Alone it may hold any amount, but not for long. */
    @Test
    void a_message_that_does_not_come_as_a_whole_holds_memory_until_its_time_is_over() {
      int port = serve(() -> {}, SELDOM_MILLIS);
      for (byte[] beginning : List.of(halfAFrame(), firstFrameOfTwo())) {
        try (Connection client = connected(port)) {
          client.write(beginning);
          Await.until("it is counted", () -> messages.held() >= beginning.length - 20);
          Connection.Frame last = client.frame();
          assertThat(last.opcode()).isEqualTo(Frames.CLOSE);
          assertThat(ByteBuffer.wrap(last.payload()).getChar()).isEqualTo((char) 1008);
        }
        Await.until("it is given back", () -> messages.held() == 0);
      }
    }

    @Test
    void a_message_for_which_there_is_no_memory_is_1013() {
      int port = serve(() -> {}, SELDOM_MILLIS);
      messages.reserve(300_000, 0);
      try (Connection large = connected(port);
          Connection small = connected(port)) {
        large.write(halfAFrame());
        Connection.Frame last = large.frame();
        assertThat(last.opcode()).isEqualTo(Frames.CLOSE);
        assertThat(ByteBuffer.wrap(last.payload()).getChar()).isEqualTo((char) 1013);

        small.write(Frames.text("x".repeat(10_000)));
        small.write(Frames.masked(Frames.PING, true, new byte[0]));
        assertThat(small.frame().opcode()).isEqualTo(Frames.PONG);
      }
      Await.until("it is given back", () -> messages.held() == 300_000);
    }

    private static byte[] halfAFrame() {
      return Arrays.copyOf(Frames.text("x".repeat(150_000)), 100_000);
    }

    private static byte[] firstFrameOfTwo() {
      return Frames.masked(Frames.TEXT, false, new byte[100_000]);
    }

    private static Connection connected(int port) {
      return upgraded(new Connection(port));
    }

    /** Waits until so many pings have been due. */
    private void awaitTicks(int count) throws InterruptedException {
      CountDownLatch ticks = new CountDownLatch(count);
      vertx.setPeriodic(1, timer -> ticks.countDown());
      assertThat(ticks.await(30, TimeUnit.SECONDS)).isTrue();
    }
  }
}
