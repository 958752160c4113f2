package lectus.server;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.OtherMembers;
import lectus.http.exchange.Requests;
import lectus.server.MemberMessage.Answered;
import lectus.server.MemberMessage.Ask;
import lectus.server.MemberMessage.Life;
import lectus.server.MemberMessage.Meet;
import lectus.server.MemberMessage.SignedFields;
import lectus.server.MemberRequestHandler.MemberAddress;

/** Asks other members over the event bus. Thread-safe. */
public final class MemberBus implements OtherMembers {
  private static final int NONCE_BYTES = 16;

  private final Vertx vertx;
  private final Supplier<byte[]> secret;
  private final long patienceMillis;
  private final SecureRandom random = new SecureRandom();
  private final AtomicInteger asking = new AtomicInteger();

  /**
   * @param secret that the servers of the store share; may wait
   */
  public MemberBus(Vertx vertx, Supplier<byte[]> secret) {
    this(vertx, secret, MemberAddress.PATIENCE_MILLIS);
  }

  MemberBus(Vertx vertx, Supplier<byte[]> secret, long patienceMillis) {
    this.vertx = vertx;
    this.secret = secret;
    this.patienceMillis = patienceMillis;
  }

  @Override
  public Future<Answer> ask(String member, Question question) {
    return counted(
            () ->
                key()
                    .compose(
                        key ->
                            life(member, key)
                                .compose(
                                    life -> send(member, key, new Ask(nonce(), life, question)))))
        .map(answer -> answer instanceof Answered it ? it.answer() : notUnderstood(member));
  }

  @Override
  public Future<Void> meet(String member) {
    return counted(() -> key().compose(key -> life(member, key))).mapEmpty();
  }

  private Future<SignedFields> key() {
    return vertx.executeBlocking(() -> new SignedFields(secret.get()), false);
  }

  private Future<byte[]> life(String member, SignedFields key) {
    return send(member, key, new Meet(nonce()))
        .map(answer -> answer instanceof Life it ? it.life() : notUnderstood(member));
  }

  /** So many wait for members that do not answer, and no more. */
  private <T> Future<T> counted(Supplier<Future<T>> work) {
    if (asking.incrementAndGet() > MemberAddress.MAX_AT_ONCE) {
      asking.decrementAndGet();
      return unavailable("Too many requests to other members wait for an answer.");
    }
    return work.get().onComplete(done -> asking.decrementAndGet());
  }

  private Future<MemberMessage> send(String member, SignedFields key, MemberMessage question) {
    List<byte[]> fields = question.fields();
    byte[] message = key.written(fields);
    boolean isLong = message.length > MemberAddress.MAX_QUESTION_BYTES;
    if (isLong || fields.size() > SignedFields.MAX_FIELDS) {
      return Future.failedFuture(
          LectusException.badRequest("The request is too long for another member."));
    }
    return vertx
        .eventBus()
        .<Buffer>request(
            MemberAddress.of(member),
            Buffer.buffer(message),
            new DeliveryOptions().setSendTimeout(patienceMillis))
        .recover(failure -> Future.failedFuture(why(member, failure)))
        .map(answer -> understood(member, key, question, answer));
  }

  private MemberMessage understood(
      String member, SignedFields key, MemberMessage question, Message<?> answer) {
    Object body = answer.body();
    boolean isShort =
        body instanceof Buffer bytes && bytes.length() <= MemberAddress.MAX_ANSWER_BYTES;
    Optional<MemberMessage> read =
        isShort
            ? key.read(((Buffer) body).getBytes()).flatMap(MemberMessage::of)
            : Optional.empty();
    return read.filter(it -> it.answers(question)).orElseGet(() -> notUnderstood(member));
  }

  private byte[] nonce() {
    byte[] nonce = new byte[NONCE_BYTES];
    random.nextBytes(nonce);
    return nonce;
  }

  private static <T> T notUnderstood(String member) {
    throw LectusException.unavailable("The answer of " + member + " cannot be understood.");
  }

  private static LectusException why(String member, Throwable failure) {
    if (failure instanceof ReplyException refused
        && refused.failureType() == ReplyFailure.RECIPIENT_FAILURE) {
      return refused.failureCode() == MemberRequestHandler.NOT_OF_THIS_STORE
          ? Requests.notImplemented(
              member + " has another store than this server, and takes no requests from it.")
          : LectusException.unavailable(member + " is too busy.");
    }
    return new LectusException(new LectusError.PreconditionFailed("nodedown", member + " is down"));
  }

  private static <T> Future<T> unavailable(String sentence) {
    return Future.failedFuture(LectusException.unavailable(sentence));
  }
}
