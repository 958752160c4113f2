package lectus.json;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Collects the leaves of one document and its running sizes while it is read. Once the leaves no
 * longer fit into the store, it keeps none, because a body of 1 MB can name 5 GB of them; it only
 * goes on counting, so that the error can tell the sizes.
 */
final class LeafCollector {
  /**
   * Here it stops counting: without any leaves, the names of members alone would fill the memory.
   */
  private static final long FAR_TOO_MANY_ROWS =
      3 * JsonLimits.TRANSACTION_BYTES / JsonLimits.MUTATION_BYTES;

  private final JsonLimits limits;

  /** In the order of arrival; null where a later member has replaced a leaf. */
  private final List<Leaf> leaves = new ArrayList<>(32);

  private int count;

  /** Number of key-values that were not replaced; a leaf has one or more. */
  private int rows;

  private long jsonBytes;
  private long storedBytes;
  private long mostStoredBytes;
  private long mostTransactionBytes;

  LeafCollector(JsonLimits limits) {
    this.limits = limits;
  }

  /** Begins a member, and drops the leaves of an earlier member with the same name. */
  void begin(Member member) {
    if (member.complete) {
      drop(member);
    }
    member.complete = false;
    member.from = count;
    member.rows = rows;
    member.storedBytes = storedBytes;
    member.jsonBytes = jsonBytes;
  }

  void complete(Member member) {
    member.complete = true;
    member.to = count;
    member.rows = rows - member.rows;
    member.storedBytes = storedBytes - member.storedBytes;
    member.jsonBytes = jsonBytes - member.jsonBytes;
  }

  void addJson(int bytes) {
    jsonBytes += bytes;
  }

  void add(byte[] path, int pathLength, byte[] value, int valueLength) {
    count++;
    if (StringPieces.areNeeded(valueLength)) {
      StringPieces.Size size = StringPieces.size(pathLength, value, valueLength);
      rows += size.rows();
      storedBytes += (long) size.rows() * limits.keyOverhead() + size.bytes();
    } else {
      rows++;
      storedBytes += limits.keyOverhead() + pathLength + valueLength;
    }
    mostStoredBytes = Math.max(mostStoredBytes, storedBytes);
    mostTransactionBytes = Math.max(mostTransactionBytes, transactionBytes());
    if (rows > FAR_TOO_MANY_ROWS) {
      throw TooLarge.transaction(jsonBytes, mostTransactionBytes, JsonLimits.TRANSACTION_BYTES);
    }
    if (overflows()) {
      leaves.clear();
    } else {
      leaves.add(new Leaf(Arrays.copyOf(path, pathLength), Arrays.copyOf(value, valueLength)));
    }
  }

  ExplodedBody finish() {
    // Each member has counted a comma; the surplus one stands for one of the two braces.
    long size = jsonBytes + (jsonBytes == 0 ? 2 : 1);
    checkSizes(size);
    leaves.removeIf(Objects::isNull);
    leaves.sort(Leaf.BY_PATH);
    long overhead = (long) rows * limits.keyOverhead();
    return new ExplodedBody(List.copyOf(leaves), rows, (int) size, storedBytes - overhead);
  }

  private void checkSizes(long size) {
    if (size > limits.documentBytes()) {
      throw TooLarge.document(size, limits.documentBytes());
    }
    if (mostStoredBytes > limits.explodedBytes()) {
      throw TooLarge.exploded(size, mostStoredBytes, limits.explodedBytes());
    }
    if (mostTransactionBytes > JsonLimits.TRANSACTION_BYTES) {
      throw TooLarge.transaction(size, mostTransactionBytes, JsonLimits.TRANSACTION_BYTES);
    }
  }

  private void drop(Member member) {
    rows -= member.rows;
    storedBytes -= member.storedBytes;
    jsonBytes -= member.jsonBytes;
    if (!overflows()) {
      leaves.subList(member.from, member.to).replaceAll(leaf -> null);
    }
  }

  private long transactionBytes() {
    return storedBytes + (long) rows * JsonLimits.MUTATION_BYTES;
  }

  private boolean overflows() {
    return mostStoredBytes > limits.explodedBytes()
        || mostTransactionBytes > JsonLimits.TRANSACTION_BYTES;
  }
}
