package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import lectus.http.testing.Connection;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The bytes that wait for a client slower than the server. */
@Timeout(60)
final class OutboxTest {
  private static final int MAX_BYTES = 1 << 10;

  /** More than the sockets between server and client hold. */
  private static final int PART_BYTES = 64 << 20;

  private final Vertx vertx = Vertx.vertx();
  private final CompletableFuture<Boolean> full = new CompletableFuture<>();
  private final CompletableFuture<Boolean> room = new CompletableFuture<>();

  @AfterEach
  void stop() {
    vertx.close().await();
  }

  private Connection connect(int partBytes) {
    int port =
        vertx
            .createHttpServer()
            .requestHandler(request -> answer(request, partBytes))
            .listen(0, "127.0.0.1")
            .await()
            .actualPort();
    return new Connection(port, 16 << 10).write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  }

  private void answer(HttpServerRequest request, int partBytes) {
    Outbox outbox = new Outbox(request.response().setChunked(true), MAX_BYTES);
    outbox.write(Buffer.buffer(new byte[partBytes]));
    full.complete(outbox.isFull());
    outbox.whenRoom(() -> room.complete(outbox.isFull()));
  }

  @Test
  void it_is_full_when_so_many_bytes_wait_and_has_room_when_they_were_taken() throws Exception {
    try (Connection client = connect(PART_BYTES)) {
      client.readHead();
      assertThat(full.get(30, TimeUnit.SECONDS)).isTrue();
      assertThat(room).isNotDone();
      assertThat(client.chunk()).hasSize(PART_BYTES);
      assertThat(room.get(30, TimeUnit.SECONDS)).isFalse();
    }
  }

  @Test
  void it_is_not_full_at_its_limit() throws Exception {
    try (Connection client = connect(MAX_BYTES)) {
      client.readHead();
      assertThat(full.get(30, TimeUnit.SECONDS)).isFalse();
      assertThat(client.chunk()).hasSize(MAX_BYTES);
    }
  }
}
