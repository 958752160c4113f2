package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import lectus.document.write.EditFailures;
import lectus.error.FoundationDbError;
import lectus.error.LectusError;
import lectus.http.ErrorStatus;
import lectus.http.testing.Connection;
import lectus.metrics.RequestLabel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailuresTest {
  private static RequestLabel label(String id) {
    return new RequestLabel(id, Optional.empty(), Optional.empty());
  }

  @ParameterizedTest
  @CsvSource({"1020,The store is too busy.", "1031,The store does not answer."})
  void a_store_that_may_answer_later_is_unavailable(int code, String reason) {
    assertThat(Failures.errorOf(new FDBException("", code), label("id")))
        .isEqualTo(new LectusError.Unavailable(reason, 1));
  }

  @Test
  void a_store_that_cannot_be_written_says_why() {
    LectusError full =
        Failures.errorOf(
            FoundationDbError.NO_SPACE.exception("The disk has 3 MB free."), label("id"));
    assertThat(full).isEqualTo(new LectusError.InsufficientStorage("The disk has 3 MB free."));
    assertThat(ErrorStatus.of(full)).isEqualTo(507);
    FDBException broken = FoundationDbError.FILE_NOT_WRITABLE.exception("The disk fails.");
    assertThat(Failures.errorOf(broken, label("id")))
        .isEqualTo(new LectusError.Unavailable("The disk fails.", 5));
  }

  /** Messages of exceptions, FoundationDB's or others, may contain what clients must not see. */
  @ParameterizedTest
  @CsvSource({"1510", "1513", "1514", "1522", "1599", "2000", "1020", "1031", "4100"})
  void nobody_is_told_an_exceptions_message(int code) {
    FDBException failure = new FDBException("/var/lib/secret", code);

    assertThat(Failures.errorOf(failure, label("id")).reason()).doesNotContain("secret");
    assertThat(EditFailures.errorOf(failure).reason()).doesNotContain("secret");
    Throwable other = new IllegalStateException("/var/lib/secret");
    assertThat(Failures.errorOf(other, label("id")).reason()).doesNotContain("secret");
    assertThat(EditFailures.errorOf(other).reason()).doesNotContain("secret");
  }

  @Test
  void want_of_memory_passes() {
    assertThat(Failures.errorOf(new OutOfMemoryError("Java heap space"), label("id")))
        .isEqualTo(new LectusError.Unavailable("The server is short of memory.", 1));
  }

  @ParameterizedTest
  @CsvSource({"1510", "1522", "2000"})
  void what_nobody_foresaw_names_the_request(int code) {
    assertThat(Failures.errorOf(new FDBException("", code), label("5120a47c69")))
        .isEqualTo(new LectusError.Internal("The request 5120a47c69 failed; the log says why."));
  }

  /** The bytes that wait for a client slower than the server. */
  @Timeout(60)
  @Nested
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
}
