package lectus.json;

import java.util.Arrays;
import java.util.Comparator;

/**
 * One leaf of a document's body, RFC 004 "Value Encoding". A long string, too, is one leaf; the
 * store keeps it in several rows ({@link ExplodedBody#forEachRow}).
 *
 * @param path the tuple of member names (strings) and array positions (integers from 0) that leads
 *     from the root of the body to the leaf; it follows the revision's key in the store
 * @param value one value in tuple encoding, or one of the two markers of {@link LeafMarkers}
 */
public record Leaf(byte[] path, byte[] value) {
  public static final Comparator<Leaf> BY_PATH = (a, b) -> Arrays.compareUnsigned(a.path, b.path);

  /** Returns the bytes that the leaf adds to its revision's key, plus those of its value. */
  public int bytes() {
    return path.length + value.length;
  }
}
