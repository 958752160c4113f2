package lectus.json;

/**
 * First bytes of values, and of one element of keys, that are not in tuple encoding. The codes lie
 * in the tuple layer's range for users, 0x40 to 0x4f. Empty containers are stored as markers,
 * except the root: an empty body has no leaves.
 *
 * <table> <caption>Markers</caption> <tr><th>what</th><th>bytes</th></tr> <tr><td>{@code
 * []}</td><td>40</td></tr> <tr><td>{@code {}}</td><td>41</td></tr> <tr><td>a string in several
 * rows, and its rows after the first: {@link StringParts}</td> <td>42 …</td></tr> </table>
 */
final class LeafMarkers {
  static final int EMPTY_ARRAY = 0x40;
  static final int EMPTY_OBJECT = 0x41;
  static final int PIECES = 0x42;

  private LeafMarkers() {}
}
