package lectus.server;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import lectus.error.LectusError;
import lectus.http.OtherMembers.Answer;
import lectus.http.OtherMembers.Question;
import lectus.http.Reply;
import lectus.server.MemberMessage.Answered;
import lectus.server.MemberMessage.Ask;
import lectus.server.MemberMessage.Life;
import lectus.server.MemberMessage.Meet;
import lectus.server.MemberMessage.SignedFields;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers other members. What comes is not trusted before its signature was checked. */
public final class MemberRequestHandler {
  static final int NOT_OF_THIS_STORE = 1;
  static final int BUSY = 2;

  private static final Logger LOG = LoggerFactory.getLogger(MemberRequestHandler.class);
  private static final int LIFE_BYTES = 16;

  private final Vertx vertx;
  private final Context context;
  private final Supplier<byte[]> secret;
  private final BiFunction<Question, Context, Future<Reply>> answers;
  private final byte[] life = new byte[LIFE_BYTES];

  /** Of the context's thread. */
  private int answering;

  /**
   * @param secret that the servers of the store share; may wait
   * @param answers never fail
   */
  public MemberRequestHandler(
      Vertx vertx, Supplier<byte[]> secret, BiFunction<Question, Context, Future<Reply>> answers) {
    this.vertx = vertx;
    this.context = vertx.getOrCreateContext();
    this.secret = secret;
    this.answers = answers;
    new SecureRandom().nextBytes(life);
  }

  /** Answers from now on what is sent to this member. */
  public void open(String self) {
    MessageConsumer<Object> consumer = vertx.eventBus().consumer(MemberAddress.of(self));
    context.runOnContext(none -> consumer.handler(this::receive));
  }

  private void receive(Message<Object> message) {
    if (answering >= MemberAddress.MAX_AT_ONCE) {
      message.fail(BUSY, "");
      return;
    }
    if (!(message.body() instanceof Buffer bytes)
        || bytes.length() > MemberAddress.MAX_QUESTION_BYTES) {
      message.fail(NOT_OF_THIS_STORE, "");
      return;
    }
    answering++;
    vertx
        .executeBlocking(() -> new SignedFields(secret.get()), false)
        .compose(key -> answer(key, bytes.getBytes()))
        .onComplete(
            answer -> reply(message, answer),
            failure -> {
              LOG.warn("A request of another member failed", failure);
              message.fail(BUSY, "");
            })
        .onComplete(done -> answering--);
  }

  private static void reply(Message<Object> message, Optional<byte[]> answer) {
    if (answer.isPresent()) {
      message.reply(Buffer.buffer(answer.get()));
    } else {
      message.fail(NOT_OF_THIS_STORE, "");
    }
  }

  /** Returns the signed answer; empty if this server has nothing to do with who asks. */
  private Future<Optional<byte[]>> answer(SignedFields key, byte[] bytes) {
    Optional<MemberMessage> question = key.read(bytes).flatMap(MemberMessage::of);
    if (question.isEmpty()) {
      return Future.succeededFuture(Optional.empty());
    }
    if (question.get() instanceof Meet meet) {
      byte[] met = key.written(new Life(meet.nonce(), life).fields());
      return Future.succeededFuture(Optional.of(met));
    }
    if (question.get() instanceof Ask ask && Arrays.equals(ask.life(), life)) {
      return answers
          .apply(ask.question(), context)
          .map(reply -> Optional.of(written(key, ask, reply)));
    }
    return Future.succeededFuture(Optional.empty());
  }

  private static byte[] written(SignedFields key, Ask ask, Reply reply) {
    byte[] whole = key.written(new Answered(ask.nonce(), answer(reply)).fields());
    return whole.length <= MemberAddress.MAX_ANSWER_BYTES
        ? whole
        : key.written(new Answered(ask.nonce(), answer(tooLong())).fields());
  }

  private static Reply tooLong() {
    return Reply.error(
        new LectusError.Unavailable("The answer is too long for the way between members."));
  }

  private static Answer answer(Reply reply) {
    Map<String, String> headers = new LinkedHashMap<>();
    reply.headers().forEach(header -> headers.put(header.name().toString(), header.value()));
    return new Answer(
        reply.status(), reply.contentType().toString(), headers, reply.body().getBytes());
  }

  /** Where a member listens on the bus, and how much it takes. */
  static final class MemberAddress {
    /** A message to this address asks for more than a value of the configuration. */
    static final int MAX_QUESTION_BYTES = 64 << 10;

    /** All figures take some hundred kilobytes. */
    static final int MAX_ANSWER_BYTES = 8 << 20;

    /** Questions that one server asks, and that it answers, at a time. */
    static final int MAX_AT_ONCE = 32;

    /** A member that does not answer in this time is not waited for. */
    static final long PATIENCE_MILLIS = 5_000;

    private MemberAddress() {}

    static String of(String member) {
      return "lectus.member." + member;
    }
  }
}
