package lectus.changes.page;

import java.util.Map;
import java.util.Optional;
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

  /**
   * The reader of a tail whose listeners all see the same rows: it passes a source's pages on
   * unchanged.
   */
  private static final class WholePages<P extends ResumePoint<P>> implements TailReader<P> {
    private final LiveSource<P> source;
    private Optional<View> view = Optional.empty();

    WholePages(LiveSource<P> source) {
      this.source = source;
    }

    @Override
    public void add(View everything) {
      view = Optional.of(everything);
    }

    @Override
    public void remove(View everything) {
      view = view.filter(known -> known != everything);
    }

    @Override
    public TailPage<P> page(P from) {
      LivePage<P> page = source.page(from, Long.MAX_VALUE);
      Map<View, ViewPage<P>> rows =
          view.isEmpty() || page.rows().isEmpty()
              ? Map.of()
              : Map.of(view.get(), new ViewPage.Shown<>(page.rows()));
      return new TailPage<>(from, rows, page.next(), page.reachedEnd(), page.end(), page.readers());
    }
  }
}
