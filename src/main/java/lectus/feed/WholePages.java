package lectus.feed;

import java.util.Map;
import java.util.Optional;

/**
 * The reader of a tail whose listeners all see the same rows: it passes a source's pages on
 * unchanged.
 */
final class WholePages<P extends ResumePoint<P>> implements TailReader<P> {
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
