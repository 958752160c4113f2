package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import lectus.http.HttpSettings.WebSocketSettings;
import lectus.http.limits.IdleClock;
import lectus.http.limits.MemoryAccount;
import lectus.http.testing.Connection;
import lectus.http.testing.Frames;
import lectus.http.testing.SocketClient;
import lectus.store.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Rare cases of a socket: messages that cannot be handled, clients that do not read. */
final class TextSocketTest {
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
                      vertx, new IdleClock(), webSocket, SETTINGS, messages, pingMillis, () -> {});
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
