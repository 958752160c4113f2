package lectus.json;

import java.util.Arrays;
import java.util.Comparator;

/**
 * One leaf of a document's body, RFC 004 "Value Encoding". A long string is one leaf, too, which
 * the store keeps in several rows ({@link ExplodedBody#forEachRow}).
 *
 * @param path the tuple of member names (strings) and array positions (integers from 0) that leads
 *     from the root of the body to the leaf; follows the revision's key in the store
 * @param value one value in tuple encoding, or one of the two markers of {@link LeafMarkers}
 */
public record Leaf(byte[] path, byte[] value) {
  static final Comparator<Leaf> BY_PATH = (a, b) -> Arrays.compareUnsigned(a.path, b.path);

  /** What the leaf adds to its revision's key, and its value: bytes. */
  public int bytes() {
    return path.length + value.length;
  }
}
