package lectus.database;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import lectus.tuple.StoredFormat;

/**
 * How a partition key chooses among the shards of a generation (RFC 018, Routing). The number is
 * stored with each generation and the name is shown to clients, so a scheme never changes once data
 * was routed by it. A new scheme gets a new number, and old generations keep theirs.
 */
public enum HashScheme {
  /** No choice: the changes of a database from before shards. */
  UNSHARDED(0, "unsharded") {
    @Override
    public int shardOf(String partitionKey, int shards) {
      return 0;
    }
  },

  /** Jump consistent hash over the CRC-32 of the partition key's UTF-8 bytes. */
  JUMP_CRC32(1, "jump-crc32") {
    @Override
    public int shardOf(String partitionKey, int shards) {
      if (shards == 1) {
        return 0;
      }
      CRC32 crc = new CRC32();
      crc.update(partitionKey.getBytes(StandardCharsets.UTF_8));
      return jump(crc.getValue(), shards);
    }
  };

  /** The scheme of new generations. */
  static final HashScheme DEFAULT = JUMP_CRC32;

  /** Of the linear congruential generator in the paper on jump consistent hashes. */
  private static final long JUMP_MULTIPLIER = 2_862_933_555_777_941_757L;

  private final int number;
  private final String text;

  HashScheme(int number, String text) {
    this.number = number;
    this.text = text;
  }

  /** Returns the index of the shard, 0 to {@code shards} - 1. */
  public abstract int shardOf(String partitionKey, int shards);

  /** Returns the name shown to clients. */
  public String text() {
    return text;
  }

  int number() {
    return number;
  }

  /**
   * @throws lectus.tuple.MalformedTupleException.NewerFormatException if this server does not know
   *     the scheme
   */
  static HashScheme numbered(int number) {
    for (HashScheme scheme : values()) {
      if (scheme.number == number) {
        return scheme;
      }
    }
    throw StoredFormat.newer("A hash scheme", number, values().length - 1);
  }

  /** Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm". */
  private static int jump(long key, int buckets) {
    long bucket = -1;
    long next = 0;
    long state = key;
    while (next < buckets) {
      bucket = next;
      state = state * JUMP_MULTIPLIER + 1;
      next = (long) ((bucket + 1) * ((double) (1L << 31) / (double) ((state >>> 33) + 1)));
    }
    return (int) bucket;
  }
}
