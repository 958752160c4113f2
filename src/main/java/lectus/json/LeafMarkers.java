package lectus.json;

/**
 * The values of containers that have no leaf of their own. The codes are of the tuple layer's range
 * for users, 0x40 to 0x4f. The root of a document has no marker: an empty body has no leaves.
 *
 * <table>
 * <caption>Markers</caption>
 * <tr><th>value</th><th>bytes</th></tr>
 * <tr><td>{@code []}</td><td>40</td></tr>
 * <tr><td>{@code {}}</td><td>41</td></tr>
 * </table>
 */
final class LeafMarkers {
  static final int EMPTY_ARRAY = 0x40;
  static final int EMPTY_OBJECT = 0x41;

  private LeafMarkers() {}
}
