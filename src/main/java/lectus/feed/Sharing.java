package lectus.feed;

import java.util.function.Supplier;

/**
 * How a source is read together with others.
 *
 * @param tail equal for sources for which one reader reads everything new
 * @param view equal for those of them that have the same rows, byte for byte, at the same points
 * @param reader opens the one reader
 * @param news a source to listen to while anyone reads, so it must not hold what only one view
 *     needs
 */
public record Sharing<P extends ResumePoint<P>>(
    Object tail, Object view, Supplier<TailReader<P>> reader, LiveSource<P> news) {

  /**
   * Shares only with sources that have the same rows.
   *
   * @param identity equal for these
   */
  public static <P extends ResumePoint<P>> Sharing<P> ofEqualRows(
      Object identity, LiveSource<P> source) {
    return new Sharing<>(identity, identity, () -> new WholePages<>(source), source);
  }
}
