package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.util.concurrent.TimeoutException;
import lectus.http.Reply;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Forwarding;
import lectus.http.exchange.HttpLoop;
import lectus.http.exchange.Services;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.server.BareServerTest.BareServer;
import lectus.server.WriteQueue.WriteSettings;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Answers that HTTP cannot carry: their clients do not wait for ever, and hold nothing. */
final class UnsentAnswersTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final TestSettings SETTINGS = new TestSettings().bodyMemoryBytes(1);

  private final Vertx vertx = Vertx.vertx();
  private BareServer node;

  @BeforeEach
  void start() throws TimeoutException {
    node = new BareServer(stores.fresh(), new WriteSettings(1, 2, 1 << 20, 64, 1 << 20), SETTINGS);
  }

  @AfterEach
  void stop() {
    vertx.close().await();
    node.close();
  }

  /**
   * @param status of an answer with an invalid header
   */
  private HttpServer answering(int status) {
    Services services = node.services();
    HttpLoop loop =
        new HttpLoop(
            services.databases().catalogue(),
            services.perRequest(),
            SETTINGS.toNode()::http,
            new Forwarding(
                services.server().caller(),
                services.changes().sessions(),
                services.databases().events()));
    Reply unsendable = Reply.ok(status).with("X-Line", "one\0two");
    return vertx
        .createHttpServer()
        .requestHandler(request -> answer(loop, request, unsendable))
        .listen(0, "127.0.0.1")
        .await();
  }

  private static void answer(HttpLoop loop, HttpServerRequest request, Reply reply) {
    new Exchange(loop, Vertx.currentContext(), request).answerBody(body -> reply);
  }

  private static Request largeRequest(HttpServer server) {
    return new Request(server.actualPort(), "POST", "/").body(new byte[100_000]);
  }

  @Test
  void it_is_an_error_instead() {
    Answer answer = largeRequest(answering(200)).send().expect(500);
    assertThat(answer.member("error")).isEqualTo("internal_server_error");
    Await.until("the body is given back", this::nothingIsHeld);
  }

  @Test
  void the_connection_ends_if_not_even_an_error_can_be_sent() {
    HttpServer server = answering(500);
    try (Connection client = new Connection(server.actualPort())) {
      client.write(largeRequest(server).bytes());

      assertThat(client.isAtEnd()).isTrue();
    }
    Await.until("the body is given back", this::nothingIsHeld);
  }

  private boolean nothingIsHeld() {
    return node.services().perRequest().memory().bodies().held() == 0;
  }
}
