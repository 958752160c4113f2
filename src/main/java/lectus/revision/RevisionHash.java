package lectus.revision;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * The part of a revision id behind the dash. Thirty-two hex digits are kept as 16 bytes; anything
 * else, as {@code new_edits=false} may bring it, is kept as it came, under a tuple type of its own,
 * so that no hash is taken for another.
 *
 * <p>Encoding: byte string of 16 bytes, or Unicode string. Odd hashes sort above all others.
 */
public record RevisionHash(byte[] bytes, boolean odd) implements Comparable<RevisionHash> {
  /** Longest odd hash accepted, in bytes of UTF-8, so that keys and ancestor lists stay bounded. */
  public static final int MAX_ODD_BYTES = 255;

  /** MD5 and its like: 16 bytes. */
  public static RevisionHash of(byte[] sixteen) {
    if (sixteen.length != 16) {
      throw new IllegalArgumentException("A revision hash has 16 bytes");
    }
    return new RevisionHash(sixteen, false);
  }

  /** Empty for a text of no, or of more than {@link #MAX_ODD_BYTES}, bytes. */
  public static Optional<RevisionHash> parse(String text) {
    if (text.length() == 32 && isHex(text)) {
      return Optional.of(new RevisionHash(HexFormat.of().parseHex(text), false));
    }
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    return utf8.length == 0 || utf8.length > MAX_ODD_BYTES
        ? Optional.empty()
        : Optional.of(new RevisionHash(utf8, true));
  }

  private static boolean isHex(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (!HexFormat.isHexDigit(text.charAt(i))) {
        return false;
      }
    }
    return true;
  }

  public void writeTo(TupleWriter tuple) {
    if (odd) {
      tuple.string(bytes, 0, bytes.length);
    } else {
      tuple.bytes(bytes);
    }
  }

  public static RevisionHash readFrom(TupleReader tuple) {
    return tuple.isBytes()
        ? new RevisionHash(tuple.bytes(), false)
        : new RevisionHash(tuple.stringUtf8(), true);
  }

  @Override
  public int compareTo(RevisionHash other) {
    if (odd != other.odd) {
      return odd ? 1 : -1;
    }
    return Arrays.compareUnsigned(bytes, other.bytes);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RevisionHash that
        && odd == that.odd
        && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return odd ? new String(bytes, StandardCharsets.UTF_8) : HexFormat.of().formatHex(bytes);
  }
}
