package lectus.server;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Messages between members: fields of bytes, each after its length (four bytes), and at the end
 * their signature (HMAC with SHA-256, 32 bytes). The key is made of the secret with which the
 * store's servers sign cookies, so that neither signature can stand for the other.
 */
final class SignedFields {
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
