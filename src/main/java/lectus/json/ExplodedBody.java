package lectus.json;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.List;
import lectus.error.LectusException;

/**
 * A document's body as leaves, each path once: in ascending order of their paths, and in the order
 * in which they were sent.
 */
public final class ExplodedBody {
  /** Memory of a leaf, its two arrays and its place, without the bytes in the arrays. */
  static final int LEAF_MEMORY_BYTES = 72;

  private static final ExplodedBody EMPTY = new ExplodedBody(List.of(), List.of(), 0, 2, 0);

  private final List<Leaf> leaves;
  private final List<Leaf> sent;
  private final int rows;
  private final int jsonBytes;
  private final long storedBytes;

  /**
   * @param sent the same leaves as they were sent
   */
  ExplodedBody(List<Leaf> leaves, List<Leaf> sent, int rows, int jsonBytes, long storedBytes) {
    this.leaves = leaves;
    this.sent = sent;
    this.rows = rows;
    this.jsonBytes = jsonBytes;
    this.storedBytes = storedBytes;
  }

  /** Returns the body {@code {}}. */
  public static ExplodedBody empty() {
    return EMPTY;
  }

  /** Returns the leaves in ascending order of their paths. */
  public List<Leaf> leaves() {
    return leaves;
  }

  /**
   * Returns the leaves in the order in which they were sent; of members of the same name the last
   * one counts, at its place.
   */
  public List<Leaf> sent() {
    return sent;
  }

  /** Whether both orders are the same. */
  public boolean isInOrder() {
    return sent == leaves;
  }

  public boolean isEmpty() {
    return leaves.isEmpty();
  }

  /**
   * Returns the external size: bytes of the body as {@link JsonAssembler} writes it, with braces.
   */
  public int jsonBytes() {
    return jsonBytes;
  }

  /** Returns the number of key-values for the leaves. */
  public int rows() {
    return rows;
  }

  /** Returns the approximate memory of the leaves, in bytes. */
  public long memoryBytes() {
    return storedBytes + (long) LEAF_MEMORY_BYTES * leaves.size();
  }

  /** Passes on the key-values for the leaves, in ascending order of their paths. */
  public void forEachRow(LeafRows to) {
    for (Leaf leaf : leaves) {
      if (StringParts.areNeeded(leaf.value().length)) {
        StringParts.write(leaf, to);
      } else {
        to.row(leaf.path(), leaf.value());
      }
    }
  }

  /** Returns the bytes of all key-values' paths and values, without the revision's key in each. */
  public long storedBytes() {
    return storedBytes;
  }

  /**
   * Repeats the check of the leaves' keys, once all that precedes their paths is known.
   *
   * @param limits with the actual key overhead
   * @throws LectusException 413 {@code document_too_large}, like {@link JsonExploder}
   */
  public void requireFit(JsonLimits limits) {
    for (Leaf leaf : leaves) {
      limits.checkPath(leaf.path(), leaf.path().length, leaf.value().length);
    }
  }

  /**
   * Feeds the ordered leaves to a revision's hash. Each leaf contributes the lengths of its path
   * and its value (four bytes each, big-endian), the path, and the value. So equal bodies have
   * equal digests, whatever the order of their members.
   */
  public void digestInto(MessageDigest digest) {
    byte[] lengths = new byte[8];
    for (Leaf leaf : leaves) {
      ByteBuffer.wrap(lengths).putInt(leaf.path().length).putInt(leaf.value().length);
      digest.update(lengths);
      digest.update(leaf.path());
      digest.update(leaf.value());
    }
  }
}
