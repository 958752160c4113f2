package lectus.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.junit5.VertxExtension;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lectus.error.LectusException;
import lectus.http.OtherMembers.Answer;
import lectus.http.OtherMembers.Question;
import lectus.http.Reply;
import lectus.server.MemberMessage.Ask;
import lectus.server.MemberMessage.Life;
import lectus.server.MemberMessage.Meet;
import lectus.server.MemberMessage.SignedFields;
import lectus.server.MemberRequestHandler.MemberAddress;
import lectus.store.testing.Await;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a member makes of messages, whoever sent them. */
@ExtendWith(VertxExtension.class)
final class MemberRequestHandlerTest {
  private static final byte[] SECRET = new byte[32];
  private static final byte[] NONCE = {1, 2, 3};
  private static final Question QUESTION = new Question("GET", List.of("_stats"), "", new byte[0]);

  private final Queue<Question> asked = new ConcurrentLinkedQueue<>();
  private final SignedFields key = new SignedFields(SECRET);
  private volatile Future<Reply> reply = Future.succeededFuture(Reply.json(200, "\"yes\""));
  private Vertx vertx;

  @BeforeEach
  void open(Vertx started) {
    vertx = started;
    new MemberRequestHandler(
            vertx,
            SECRET::clone,
            (question, context) -> {
              asked.add(question);
              return reply;
            })
        .open("a");
    MemberBus bus = bus();
    Await.until("it listens", () -> isMet(bus));
  }

  private static boolean isMet(MemberBus bus) {
    Future<Void> met = bus.meet("a");
    Await.until("it is answered", met::isComplete);
    return met.succeeded();
  }

  private MemberBus bus() {
    return new MemberBus(vertx, SECRET::clone);
  }

  private Message<Object> send(Object message) throws TimeoutException {
    return vertx
        .eventBus()
        .request(MemberAddress.of("a"), message, new DeliveryOptions().setSendTimeout(20_000))
        .await(20, TimeUnit.SECONDS);
  }

  private byte[] life() throws TimeoutException {
    Buffer answer = (Buffer) send(Buffer.buffer(key.written(new Meet(NONCE).fields()))).body();
    return ((Life) MemberMessage.of(key.read(answer.getBytes()).orElseThrow()).orElseThrow())
        .life();
  }

  @Test
  void a_question_is_answered() throws TimeoutException {
    Question put =
        new Question("PUT", List.of("_config", "a", "b"), "text/plain", new byte[] {'"', '"'});
    reply = Future.succeededFuture(Reply.json(405, "{}").with("Allow", "GET"));

    Answer answer = bus().ask("a", put).await(20, TimeUnit.SECONDS);

    assertThat(answer.status()).isEqualTo(405);
    assertThat(answer.type()).isEqualTo("application/json");
    assertThat(answer.headers()).containsEntry("Allow", "GET");
    assertThat(new String(answer.body(), UTF_8)).isEqualTo("{}\n");
    Question heard = asked.remove();
    assertThat(heard.method()).isEqualTo("PUT");
    assertThat(heard.path()).containsExactly("_config", "a", "b");
    assertThat(heard.accept()).isEqualTo("text/plain");
    assertThat(heard.body()).containsExactly('"', '"');
  }

  @Test
  void what_is_not_signed_with_the_stores_secret_is_refused() throws TimeoutException {
    SignedFields other = new SignedFields(new byte[] {9});
    List<Object> hostile =
        new ArrayList<>(
            List.of(
                "text",
                5L,
                new byte[] {1},
                Buffer.buffer(),
                Buffer.buffer(new byte[MemberAddress.MAX_QUESTION_BYTES + 1]),
                Buffer.buffer(other.written(new Meet(NONCE).fields())),
                Buffer.buffer(other.written(new Ask(NONCE, life(), QUESTION).fields())),
                Buffer.buffer(key.written(List.of())),
                Buffer.buffer(key.written(List.of(new byte[0], new byte[0]))),
                Buffer.buffer(key.written(List.of("ask".getBytes(UTF_8), NONCE, life()))),
                Buffer.buffer(key.written(new Life(NONCE, life()).fields()))));
    byte[] sound = key.written(new Ask(NONCE, life(), QUESTION).fields());
    Random random = new Random(5);
    for (int i = 0; i < 200; i++) {
      byte[] changed =
          Arrays.copyOf(
              sound, random.nextInt(8) == 0 ? random.nextInt(sound.length) : sound.length);
      if (changed.length == sound.length) {
        changed[random.nextInt(sound.length)] ^= (byte) (1 << random.nextInt(8));
      }
      hostile.add(Buffer.buffer(changed));
    }
    for (Object message : hostile) {
      assertThatThrownBy(() -> send(message)).isInstanceOf(ReplyException.class);
    }
    assertThat(asked).isEmpty();
    bus().ask("a", QUESTION).await(20, TimeUnit.SECONDS);
    assertThat(asked).hasSize(1);
  }

  /** Else whoever listens on the wire could restart a server as often as he likes. */
  @Test
  void a_question_of_an_earlier_life_is_refused() throws TimeoutException {
    byte[] overheard = key.written(new Ask(NONCE, new byte[16], QUESTION).fields());

    assertThatThrownBy(() -> send(Buffer.buffer(overheard))).isInstanceOf(ReplyException.class);
    assertThat(asked).isEmpty();
  }

  @Test
  void lengths_that_point_beyond_the_message_are_refused() {
    byte[] none = key.written(List.of());
    assertThat(key.read(none)).contains(List.of());
    assertThat(key.read(new byte[31])).isEmpty();
    for (int length : new int[] {Integer.MAX_VALUE, -1, 5}) {
      // Signed all the same, as a member with a defect would.
      byte[] field = java.nio.ByteBuffer.allocate(4).putInt(length).array();
      byte[] whole = key.written(List.of(field));
      byte[] inner = Arrays.copyOfRange(whole, 4, whole.length);
      assertThat(key.read(inner)).isEmpty();
    }
    assertThat(key.read(key.written(java.util.Collections.nCopies(64, new byte[1])))).isPresent();
    assertThat(key.read(key.written(java.util.Collections.nCopies(65, new byte[1])))).isEmpty();
  }

  @Test
  void as_many_questions_as_allowed_are_answered_at_a_time() throws TimeoutException {
    Promise<Reply> late = Promise.promise();
    reply = late.future();
    MemberBus bus = bus();
    List<Future<Answer>> waiting = new ArrayList<>();
    for (int i = 0; i < MemberAddress.MAX_AT_ONCE; i++) {
      waiting.add(bus.ask("a", QUESTION));
    }
    Await.until("all are asked", () -> asked.size() == MemberAddress.MAX_AT_ONCE);

    assertThatThrownBy(() -> bus.ask("a", QUESTION).await(20, TimeUnit.SECONDS))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("Too many requests to other members");
    assertThatThrownBy(() -> bus().ask("a", QUESTION).await(20, TimeUnit.SECONDS))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("a is too busy");
    late.complete(Reply.ok(200));
    for (Future<Answer> answer : waiting) {
      assertThat(answer.await(20, TimeUnit.SECONDS).status()).isEqualTo(200);
    }
    reply = Future.succeededFuture(Reply.ok(200));
    assertThat(bus.ask("a", QUESTION).await(20, TimeUnit.SECONDS).status()).isEqualTo(200);
  }

  @Test
  void a_question_has_a_limit_and_so_has_an_answer() throws TimeoutException {
    Question tooLong =
        new Question("PUT", List.of("x"), "", new byte[MemberAddress.MAX_QUESTION_BYTES]);
    assertThatThrownBy(() -> bus().ask("a", tooLong).await(20, TimeUnit.SECONDS))
        .hasMessageContaining("too long for another member");

    reply = Future.succeededFuture(Reply.json(200, " ".repeat((8 << 20) - 1_000)));
    assertThat(bus().ask("a", QUESTION).await(20, TimeUnit.SECONDS).status()).isEqualTo(200);
    reply = Future.succeededFuture(Reply.json(200, " ".repeat(8 << 20)));
    assertThat(bus().ask("a", QUESTION).await(20, TimeUnit.SECONDS).status()).isEqualTo(503);
  }

  @Test
  void nobody_waits_for_ever() {
    vertx.eventBus().consumer(MemberAddress.of("silent"), message -> {});
    MemberBus hasty = new MemberBus(vertx, SECRET::clone, 50);

    for (String member : List.of("silent", "nobody")) {
      assertThatThrownBy(() -> hasty.ask(member, QUESTION).await(20, TimeUnit.SECONDS))
          .hasMessage("nodedown: " + member + " is down");
    }
  }

  @Test
  void an_answer_that_another_gave_is_not_believed() {
    for (Object lie :
        List.of(
            "text",
            Buffer.buffer("lie"),
            Buffer.buffer(key.written(new Life(new byte[] {7}, new byte[16]).fields())),
            Buffer.buffer(new SignedFields(NONCE).written(new Meet(NONCE).fields())))) {
      var liar = vertx.eventBus().consumer(MemberAddress.of("liar"), message -> message.reply(lie));
      assertThatThrownBy(() -> bus().meet("liar").await(20, TimeUnit.SECONDS))
          .hasMessage("service_unavailable: The answer of liar cannot be understood.");
      liar.unregister();
    }
  }
}
