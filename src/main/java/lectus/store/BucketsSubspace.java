package lectus.store;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import java.util.Arrays;
import lectus.json.MalformedTupleException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;

/**
 * Which server has which bucket of replications.
 *
 * <pre>
 * key                         value
 * (root, BUCKETS, 0, bucket)  (format 1, holder, read version of the claim)
 * (root, BUCKETS, 1, holder)  (format 1, read version at the last sign of life)
 * </pre>
 *
 * A bucket is a number below 64, a holder 16 random bytes for each start of a server. The row of a
 * bucket changes only when it changes hands, so it can be a fence that signs of life do not
 * disturb.
 */
public final class BucketsSubspace {
  private static final StoredFormat CLAIMS = new StoredFormat(1, "The claim to a bucket");
  private static final StoredFormat LIVES = new StoredFormat(1, "A sign of life");
  private static final int OF_BUCKETS = 0;
  private static final int OF_HOLDERS = 1;

  private final byte[] root;

  public BucketsSubspace(byte[] root) {
    this.root = root;
  }

  /**
   * A server that has a bucket.
   *
   * @param bucket its number
   * @param since the read version of the transaction that took it
   */
  record Claim(int bucket, byte[] holder, long since) {
    boolean isOf(byte[] other) {
      return Arrays.equals(holder, other);
    }
  }

  /**
   * A server's last sign of life.
   *
   * @param version the read version of the transaction that showed it
   */
  record Life(byte[] holder, long version) {
    /** A version in the future was copied from another store and means nothing here. */
    boolean isYoungerThan(long versions, long now) {
      return version <= now && now - version <= versions;
    }
  }

  public Range range() {
    return RootSubspace.BUCKETS.range(root);
  }

  byte[] key(int bucket) {
    return RootSubspace.BUCKETS.key(root).integer(OF_BUCKETS).integer(bucket).toBytes();
  }

  byte[] key(byte[] holder) {
    return RootSubspace.BUCKETS.key(root).integer(OF_HOLDERS).bytes(holder).toBytes();
  }

  Fence row(Claim claim) {
    byte[] value =
        new TupleWriter(32)
            .integer(CLAIMS.number())
            .bytes(claim.holder())
            .integer(claim.since())
            .toBytes();
    return new Fence(key(claim.bucket()), value);
  }

  static byte[] life(long version) {
    return new TupleWriter(16).integer(LIVES.number()).integer(version).toBytes();
  }

  /** Whether a row is a bucket's; otherwise it is a holder's. */
  boolean isOfBucket(KeyValue row) {
    return reader(row).integer() == OF_BUCKETS;
  }

  /**
   * @throws MalformedTupleException if the row does not belong to this subspace
   */
  Claim claim(KeyValue row) {
    TupleReader key = reader(row);
    key.integer();
    int bucket = key.only(it -> (int) it.integer());
    return CLAIMS.reader(row.getValue()).only(it -> new Claim(bucket, it.bytes(), it.integer()));
  }

  /**
   * @throws MalformedTupleException if the row does not belong to this subspace
   */
  Life life(KeyValue row) {
    TupleReader key = reader(row);
    key.integer();
    byte[] holder = key.only(TupleReader::bytes);
    long version = LIVES.reader(row.getValue()).only(TupleReader::integer);
    return new Life(holder, version);
  }

  private TupleReader reader(KeyValue row) {
    return new TupleReader(row.getKey(), RootSubspace.BUCKETS.key(root).length());
  }

  /**
   * Checks that a row can be read.
   *
   * @throws MalformedTupleException if it cannot
   */
  public void check(KeyValue row) {
    if (isOfBucket(row)) {
      claim(row);
    } else {
      life(row);
    }
  }
}
