package lectus.revision;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;

/**
 * The part of a revision id after the dash, as raw bytes, which CouchDB compares to pick winners.
 * Thirty-two hex digits stand for 16 bytes. Any other text, which {@code new_edits=false} may
 * bring, stands for its own bytes. So a text of exactly 16 bytes is another spelling of the hash
 * that is printed as the hex digits of these bytes. At position 0 every text stands for itself.
 *
 * <p>Encoding: a byte string.
 */
public record RevisionHash(byte[] bytes) implements Comparable<RevisionHash> {
  /** Maximum length of a hash in bytes, so that keys and ancestor lists stay bounded. */
  public static final int MAX_BYTES = 255;

  /** The length of an MD5 digest. */
  static final int USUAL_BYTES = 16;

  private static final int HEX_DIGITS = 2 * USUAL_BYTES;

  /** Returns the hash of 16 bytes, such as an MD5 digest. */
  public static RevisionHash of(byte[] sixteen) {
    if (sixteen.length != USUAL_BYTES) {
      throw new IllegalArgumentException("A revision hash has 16 bytes");
    }
    return new RevisionHash(sixteen);
  }

  /** Like {@link #parse(String, long)} at any position but 0. */
  public static Optional<RevisionHash> parse(String text) {
    return parse(text, 1);
  }

  /**
   * Parses a hash; empty for a text longer than {@link #MAX_BYTES} bytes, and for one of 32 bytes
   * that are not hex digits.
   *
   * @param position the position of the revision; for ancestors, that of the leaf
   */
  public static Optional<RevisionHash> parse(String text, long position) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    if (position != 0 && utf8.length == HEX_DIGITS) {
      return isHex(text)
          ? Optional.of(new RevisionHash(HexFormat.of().parseHex(text)))
          : Optional.empty();
    }
    return utf8.length > MAX_BYTES ? Optional.empty() : Optional.of(new RevisionHash(utf8));
  }

  private static boolean isHex(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (!HexFormat.isHexDigit(text.charAt(i))) {
        return false;
      }
    }
    return true;
  }

  /** Whether its length is not that of a digest; such a hash is printed as text. */
  public boolean odd() {
    return bytes.length != USUAL_BYTES;
  }

  public void writeTo(TupleWriter tuple) {
    tuple.bytes(bytes);
  }

  /** Writes it as the revision digest has an odd parent: as a string. */
  public void writeAsTextTo(TupleWriter tuple) {
    tuple.string(bytes, 0, bytes.length);
  }

  public static RevisionHash readFrom(TupleReader tuple) {
    return new RevisionHash(tuple.bytes());
  }

  @Override
  public int compareTo(RevisionHash other) {
    return Arrays.compareUnsigned(bytes, other.bytes);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RevisionHash that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /**
   * Returns the text at a position.
   *
   * @param position as for {@link #parse(String, long)}
   */
  public String text(long position) {
    return odd() || position == 0
        ? new String(bytes, StandardCharsets.UTF_8)
        : HexFormat.of().formatHex(bytes);
  }

  /** Returns the text at any position but 0. */
  @Override
  public String toString() {
    return text(1);
  }
}
