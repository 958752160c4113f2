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

  /**
   * First bytes of values, and of one element of keys, that are not in tuple encoding. The codes
   * lie in the tuple layer's range for users, 0x40 to 0x4f. Empty containers are stored as markers,
   * except the root: an empty body has no leaves.
   *
   * <table> <caption>Markers</caption> <tr><th>what</th><th>bytes</th></tr> <tr><td>{@code
   * []}</td><td>40</td></tr> <tr><td>{@code {}}</td><td>41</td></tr> <tr><td>a string in several
   * rows, and its rows after the first: {@link StringParts}</td> <td>42 …</td></tr> </table>
   */
  static final class LeafMarkers {
    static final int EMPTY_ARRAY = 0x40;
    static final int EMPTY_OBJECT = 0x41;
    static final int PIECES = 0x42;

    private LeafMarkers() {}
  }
}
