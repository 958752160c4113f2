package lectus.revision;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32;
import lectus.json.MalformedTupleException;

/**
 * Fingerprints of all leaves of a document but the winner, which the winner's row carries. With
 * them an edit knows without reading the other branches that the revision it makes is none of their
 * leaves.
 *
 * <p>A fingerprint is the CRC-32 of the leaf's position, eight bytes, big-endian, and its hash.
 * Different leaves may have the same one, so it is listed once for each. The encoding is four bytes
 * each, big-endian, in the order of signed integers.
 */
public final class OtherLeaves {
  /** More are not listed, so that edits rewrite rows of bounded size. */
  public static final int MOST = 64;

  static final OtherLeaves NONE = new OtherLeaves(new int[0]);

  private final int[] sorted;

  private OtherLeaves(int[] sorted) {
    this.sorted = sorted;
  }

  /** Returns the fingerprints of the branches' leaves; empty if there are too many. */
  public static Optional<OtherLeaves> of(List<EditBranch> branches) {
    return branches.isEmpty() ? Optional.of(NONE) : NONE.with(branches);
  }

  private static OtherLeaves sorted(int[] fingerprints) {
    Arrays.sort(fingerprints);
    return new OtherLeaves(fingerprints);
  }

  public int count() {
    return sorted.length;
  }

  /** Whether the revision may be one of the leaves; if not, it is none of them. */
  public boolean mayHave(RevisionId leaf) {
    return indexOf(leaf) >= 0;
  }

  /** Returns the fingerprints with further ones; empty if these would be too many. */
  Optional<OtherLeaves> with(List<EditBranch> branches) {
    if (sorted.length + branches.size() > MOST) {
      return Optional.empty();
    }
    int[] more = Arrays.copyOf(sorted, sorted.length + branches.size());
    for (int i = 0; i < branches.size(); i++) {
      more[sorted.length + i] = fingerprint(branches.get(i).leaf());
    }
    return Optional.of(sorted(more));
  }

  /** Returns the fingerprints without some; empty if one was not listed, which is damage. */
  Optional<OtherLeaves> without(List<EditBranch> branches) {
    Optional<OtherLeaves> fewer = Optional.of(this);
    for (EditBranch branch : branches) {
      fewer = fewer.flatMap(it -> it.without(branch.leaf()));
    }
    return fewer;
  }

  private Optional<OtherLeaves> without(RevisionId leaf) {
    int index = indexOf(leaf);
    if (index < 0) {
      return Optional.empty();
    }
    int[] fewer = Arrays.copyOf(sorted, sorted.length - 1);
    System.arraycopy(sorted, index + 1, fewer, index, fewer.length - index);
    return Optional.of(new OtherLeaves(fewer));
  }

  byte[] toBytes() {
    ByteBuffer bytes = ByteBuffer.allocate(sorted.length * Integer.BYTES);
    bytes.asIntBuffer().put(sorted);
    return bytes.array();
  }

  /**
   * @throws MalformedTupleException if they are not fingerprints of {@code count} leaves
   */
  static OtherLeaves readFrom(byte[] bytes, int count) {
    if (count < 1 || count > MOST || bytes.length != count * Integer.BYTES) {
      throw new MalformedTupleException("Not the fingerprints of " + count + " leaves");
    }
    int[] fingerprints = new int[count];
    ByteBuffer.wrap(bytes).asIntBuffer().get(fingerprints);
    return new OtherLeaves(fingerprints);
  }

  private int indexOf(RevisionId leaf) {
    int wanted = fingerprint(leaf);
    int index = sorted.length - 1;
    while (index >= 0 && sorted[index] != wanted) {
      index--;
    }
    return index;
  }

  private static int fingerprint(RevisionId leaf) {
    CRC32 crc = new CRC32();
    crc.update(ByteBuffer.allocate(Long.BYTES).putLong(0, leaf.position()));
    crc.update(leaf.hash().bytes());
    return (int) crc.getValue();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof OtherLeaves that && Arrays.equals(sorted, that.sorted);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(sorted);
  }

  @Override
  public String toString() {
    return Arrays.toString(sorted);
  }
}
