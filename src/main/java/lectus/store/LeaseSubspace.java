package lectus.store;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import java.util.Arrays;
import lectus.json.MalformedTupleException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;

/**
 * The holders of tasks that one server at a time performs.
 *
 * <pre>
 * key                     value
 * (root, LEASES, task)    (format 1, holder, read version at the last renewal)
 * </pre>
 *
 * The task is a name, the holder 16 random bytes. {@link LeasedRounds} keep the end of the last
 * round as the lease of a task of its own.
 */
public final class LeaseSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A lease");

  private final byte[] root;

  public LeaseSubspace(byte[] root) {
    this.root = root;
  }

  /**
   * The stored state of a lease.
   *
   * @param version the read version of the transaction that renewed it last
   */
  public record Claim(byte[] holder, long version) {
    public boolean isOf(byte[] other) {
      return Arrays.equals(holder, other);
    }

    /**
     * Returns whether at most {@code versions} have passed by {@code now}. A version in the future
     * was copied from another store and means nothing here.
     */
    public boolean isYoungerThan(long versions, long now) {
      return version <= now && now - version <= versions;
    }
  }

  public Range range() {
    return RootSubspace.LEASES.range(root);
  }

  /**
   * Returns the task's name.
   *
   * @throws MalformedTupleException if the row does not belong to this subspace
   */
  public String task(KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), RootSubspace.LEASES.key(root).length());
    claim(row.getValue());
    return key.only(TupleReader::string);
  }

  byte[] key(String task) {
    return RootSubspace.LEASES.key(root).string(task).toBytes();
  }

  static byte[] value(Claim claim) {
    return new TupleWriter(32)
        .integer(FORMAT.number())
        .bytes(claim.holder())
        .integer(claim.version())
        .toBytes();
  }

  static Claim claim(byte[] value) {
    return FORMAT.reader(value).only(it -> new Claim(it.bytes(), it.integer()));
  }
}
