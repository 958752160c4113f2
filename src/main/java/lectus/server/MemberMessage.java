package lectus.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import lectus.http.OtherMembers.Answer;
import lectus.http.OtherMembers.Question;

/**
 * What members say to each other.
 *
 * <pre>
 * greeting   "meet", nonce
 * its answer "life", nonce, life
 * question   "ask", nonce, life, method, accept, body, name…
 * its answer "answer", nonce, status, type, body, (header, value)…
 * </pre>
 *
 * A nonce ties an answer to its question. A life is one start of a server: no question is answered
 * in another life than it was meant for, so what was overheard restarts no server twice.
 */
sealed interface MemberMessage {
  int MIN_OF_QUESTION = 7;
  int MIN_OF_ANSWER = 5;

  byte[] nonce();

  List<byte[]> fields();

  record Meet(byte[] nonce) implements MemberMessage {
    @Override
    public List<byte[]> fields() {
      return List.of(text("meet"), nonce);
    }
  }

  record Life(byte[] nonce, byte[] life) implements MemberMessage {
    @Override
    public List<byte[]> fields() {
      return List.of(text("life"), nonce, life);
    }
  }

  record Ask(byte[] nonce, byte[] life, Question question) implements MemberMessage {
    @Override
    public List<byte[]> fields() {
      List<byte[]> fields =
          new ArrayList<>(
              List.of(
                  text("ask"),
                  nonce,
                  life,
                  text(question.method()),
                  text(question.accept()),
                  question.body()));
      question.path().forEach(name -> fields.add(text(name)));
      return fields;
    }
  }

  record Answered(byte[] nonce, Answer answer) implements MemberMessage {
    @Override
    public List<byte[]> fields() {
      List<byte[]> fields =
          new ArrayList<>(
              List.of(
                  text("answer"),
                  nonce,
                  text(Integer.toString(answer.status())),
                  text(answer.type()),
                  answer.body()));
      answer.headers().forEach((name, value) -> fields.addAll(List.of(text(name), text(value))));
      return fields;
    }
  }

  /** Returns the message of these fields; empty if this version knows none. */
  static Optional<MemberMessage> of(List<byte[]> fields) {
    if (fields.size() < 2) {
      return Optional.empty();
    }
    byte[] nonce = fields.get(1);
    return switch (text(fields.get(0))) {
      case "meet" -> Optional.of(new Meet(nonce));
      case "life" -> fields.size() < 3 ? Optional.empty() : Optional.of(life(nonce, fields));
      case "ask" -> fields.size() < MIN_OF_QUESTION ? Optional.empty() : Optional.of(ask(fields));
      case "answer" -> fields.size() < MIN_OF_ANSWER ? Optional.empty() : answer(fields);
      default -> Optional.empty();
    };
  }

  private static MemberMessage life(byte[] nonce, List<byte[]> fields) {
    return new Life(nonce, fields.get(2));
  }

  private static MemberMessage ask(List<byte[]> fields) {
    List<String> path =
        fields.subList(MIN_OF_QUESTION - 1, fields.size()).stream()
            .map(MemberMessage::text)
            .toList();
    Question question = new Question(text(fields.get(3)), path, text(fields.get(4)), fields.get(5));
    return new Ask(fields.get(1), fields.get(2), question);
  }

  private static Optional<MemberMessage> answer(List<byte[]> fields) {
    String status = text(fields.get(2));
    if (!status.matches("[1-5][0-9]{2}")) {
      return Optional.empty();
    }
    Map<String, String> headers = new LinkedHashMap<>();
    for (int i = MIN_OF_ANSWER; i + 1 < fields.size(); i += 2) {
      headers.put(text(fields.get(i)), text(fields.get(i + 1)));
    }
    Answer answer =
        new Answer(Integer.parseInt(status), text(fields.get(3)), headers, fields.get(4));
    return Optional.of(new Answered(fields.get(1), answer));
  }

  default boolean answers(MemberMessage question) {
    return Arrays.equals(nonce(), question.nonce());
  }

  private static byte[] text(String text) {
    return text.getBytes(UTF_8);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, UTF_8);
  }

  /**
   * Messages between members: fields of bytes, each after its length (four bytes), and at the end
   * their signature (HMAC with SHA-256, 32 bytes). The key is made of the secret with which the
   * store's servers sign cookies, so that neither signature can stand for the other.
   */
  static final class SignedFields {
    private static final String ALGORITHM = "HmacSHA256";
    private static final int SIGNATURE_BYTES = 32;
    private static final byte[] PURPOSE = "lectus.member".getBytes(StandardCharsets.US_ASCII);

    /** Messages with more are refused. */
    static final int MAX_FIELDS = 64;

    private final byte[] key;

    SignedFields(byte[] secret) {
      this.key = hash(secret, PURPOSE, PURPOSE.length);
    }

    byte[] written(List<byte[]> fields) {
      int length = fields.stream().mapToInt(field -> Integer.BYTES + field.length).sum();
      ByteBuffer message = ByteBuffer.allocate(length + SIGNATURE_BYTES);
      fields.forEach(field -> message.putInt(field.length).put(field));
      return message.put(hash(key, message.array(), length)).array();
    }

    /** Returns the fields of a message; empty if it was not signed with this secret. */
    Optional<List<byte[]>> read(byte[] message) {
      int length = message.length - SIGNATURE_BYTES;
      if (length < 0 || !isSigned(message, length)) {
        return Optional.empty();
      }
      return fields(ByteBuffer.wrap(message, 0, length));
    }

    private boolean isSigned(byte[] message, int length) {
      byte[] signature = Arrays.copyOfRange(message, length, message.length);
      return MessageDigest.isEqual(hash(key, message, length), signature);
    }

    private static Optional<List<byte[]>> fields(ByteBuffer in) {
      List<byte[]> fields = new ArrayList<>();
      while (in.hasRemaining()) {
        int length = in.remaining() < Integer.BYTES ? -1 : in.getInt();
        if (length < 0 || length > in.remaining() || fields.size() == MAX_FIELDS) {
          return Optional.empty();
        }
        byte[] field = new byte[length];
        in.get(field);
        fields.add(field);
      }
      return Optional.of(fields);
    }

    private static byte[] hash(byte[] key, byte[] text, int length) {
      try {
        Mac mac = Mac.getInstance(ALGORITHM);
        mac.init(new SecretKeySpec(key, ALGORITHM));
        mac.update(text, 0, length);
        return mac.doFinal();
      } catch (GeneralSecurityException absent) {
        throw new IllegalStateException(absent);
      }
    }
  }
}
