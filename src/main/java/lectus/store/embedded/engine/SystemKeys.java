package lectus.store.embedded.engine;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The keys that the engine itself interprets.
 *
 * <pre>
 * key                          value
 * FF "/metadataVersion"        10 bytes: versionstamp of the last change
 * FF "/keyServers/"            empty: the one shard begins at the empty key. fdb-java's LocalityUtil
 *                              reads it
 * FF FF "/lectus/ceiling"      8 bytes big-endian: no version at or above it was ever given out;
 *                              after an orderly stop 8 more: the last one that was
 * </pre>
 *
 * The first is part of the contract (docs/foundationdb-contract.md, section 11). Keys from FF FF on
 * are outside every range that a transaction can reach.
 */
public final class SystemKeys {
  public static final byte[] METADATA_VERSION = systemKey(1, "/metadataVersion");
  public static final byte[] FIRST_SHARD = systemKey(1, "/keyServers/");
  public static final byte[] VERSION_CEILING = systemKey(2, "/lectus/ceiling");

  private SystemKeys() {}

  public static byte[] encodeVersion(long version) {
    return ByteBuffer.allocate(Long.BYTES).putLong(version).array();
  }

  /** Encodes a ceiling together with the last version that was given out. */
  public static byte[] encodeEnd(long ceiling, long last) {
    return ByteBuffer.allocate(2 * Long.BYTES).putLong(ceiling).putLong(last).array();
  }

  public static long decodeVersion(byte[] value) {
    return ByteBuffer.wrap(value).getLong();
  }

  /** Returns the lowest version that is certainly above all that were given out. */
  public static long decodeNext(byte[] value) {
    boolean ended = value.length == 2 * Long.BYTES;
    return ended ? ByteBuffer.wrap(value).getLong(Long.BYTES) + 1 : decodeVersion(value);
  }

  private static byte[] systemKey(int prefixLength, String name) {
    byte[] ascii = name.getBytes(StandardCharsets.US_ASCII);
    byte[] key = new byte[prefixLength + ascii.length];
    Arrays.fill(key, 0, prefixLength, (byte) 0xFF);
    System.arraycopy(ascii, 0, key, prefixLength, ascii.length);
    return key;
  }
}
