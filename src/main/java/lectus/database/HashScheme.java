package lectus.database;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import lectus.tuple.MalformedTupleException;

/**
 * How a partition key chooses among the shards of a generation (RFC 018, Routing). The number is
 * stored with each generation, so a scheme never changes once data was routed by it.
 */
public enum HashScheme {
  /** Jump consistent hash over the CRC-32 of the partition key's UTF-8 bytes. */
  JUMP_CRC32(1);

  private final int number;

  HashScheme(int number) {
    this.number = number;
  }

  public int number() {
    return number;
  }

  /**
   * @throws MalformedTupleException if this server does not know the scheme
   */
  static HashScheme numbered(int number) {
    for (HashScheme scheme : values()) {
      if (scheme.number == number) {
        return scheme;
      }
    }
    throw new MalformedTupleException("An unknown hash scheme: " + number);
  }

  /** The index of the shard, 0 to {@code shards} - 1. */
  public int shardOf(String partitionKey, int shards) {
    if (shards == 1) {
      return 0;
    }
    CRC32 crc = new CRC32();
    crc.update(partitionKey.getBytes(StandardCharsets.UTF_8));
    return jump(crc.getValue(), shards);
  }

  /** Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm". */
  private static int jump(long key, int buckets) {
    long bucket = -1;
    long next = 0;
    long state = key;
    while (next < buckets) {
      bucket = next;
      state = state * 2862933555777941757L + 1;
      next = (long) ((bucket + 1) * ((double) (1L << 31) / (double) ((state >>> 33) + 1)));
    }
    return (int) bucket;
  }
}
