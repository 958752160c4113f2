package lectus.http.live;

import lectus.feed.FeedEnd;
import lectus.feed.FeedSink;
import lectus.feed.ResumePoint;
import lectus.feed.Rows;
import lectus.http.count.DeliveryFigures;

/**
 * Counts what a feed delivers. How late rows are is told once the feed has caught up: what it reads
 * before was written before anybody asked for it.
 */
final class CountedSink<P extends ResumePoint<P>> implements FeedSink<P> {
  private final FeedSink<P> sink;
  private final DeliveryFigures figures;
  private boolean hasCaughtUp;

  CountedSink(FeedSink<P> sink, DeliveryFigures figures) {
    this.sink = sink;
    this.figures = figures;
  }

  @Override
  public void rows(Rows<P> rows, int from, int to) {
    figures.sent(to - from);
    if (hasCaughtUp) {
      countByCommit(rows, from, to);
    }
    sink.rows(rows, from, to);
  }

  private void countByCommit(Rows<P> rows, int from, int to) {
    int first = from;
    while (first < to) {
      long version = rows.at(first).commitVersion();
      int behind = first + 1;
      while (behind < to && rows.at(behind).commitVersion() == version) {
        behind++;
      }
      figures.delivered(version, behind - first);
      first = behind;
    }
  }

  @Override
  public void caughtUp(P at) {
    hasCaughtUp = true;
    sink.caughtUp(at);
  }

  @Override
  public void begin(P from) {
    sink.begin(from);
  }

  @Override
  public long room() {
    return sink.room();
  }

  @Override
  public boolean lacksRequestsOnly() {
    return sink.lacksRequestsOnly();
  }

  @Override
  public boolean hasMemoryFor(Rows<P> rows, int from, int to) {
    return sink.hasMemoryFor(rows, from, to);
  }

  @Override
  public void whenRoom(Runnable again) {
    sink.whenRoom(again);
  }

  @Override
  public void readOn() {
    sink.readOn();
  }

  @Override
  public void heartbeat(P at) {
    sink.heartbeat(at);
  }

  @Override
  public void end(FeedEnd reason, P at, long pending) {
    sink.end(reason, at, pending);
  }

  @Override
  public void fail(Throwable failure) {
    sink.fail(failure);
  }
}
