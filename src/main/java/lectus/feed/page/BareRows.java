package lectus.feed.page;

import java.util.function.Function;
import lectus.database.Sequence;
import lectus.feed.ResumePoint;
import lectus.feed.RowsBuilder;

/** Writes bare rows, each with the position after it. */
record BareRows<P extends ResumePoint<P>>(RowsBuilder<P> rows, Function<Sequence, P> point)
    implements RowFrame {
  @Override
  public void before(int row) {}

  @Override
  public void after(Sequence row) {
    rows.endRow(point.apply(row));
  }
}
