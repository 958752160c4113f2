package lectus.feed;

import java.util.function.Supplier;

/**
 * How a source is read together with others.
 *
 * @param tail equal for sources of which one reader reads everything that is new
 * @param view equal for those of them that have the same rows, byte for byte, at the same points
 * @param reader opens the one reader
 * @param news a source to listen to as long as anybody reads on, so it keeps nothing that is but
 *     for one view
 */
public record Sharing<P extends ResumePoint<P>>(
    Object tail, Object view, Supplier<TailReader<P>> reader, LiveSource<P> news) {

  /**
   * Only with sources that have the same rows.
   *
   * @param identity equal for these
   */
  public static <P extends ResumePoint<P>> Sharing<P> ofEqualRows(
      Object identity, LiveSource<P> source) {
    return new Sharing<>(identity, identity, () -> new WholePages<>(source), source);
  }
}
