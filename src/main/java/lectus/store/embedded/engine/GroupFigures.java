package lectus.store.embedded.engine;

import lectus.measure.Measured;
import lectus.measure.Meters;
import lectus.measure.Spread;

/** The groups of commits that share one synced write. */
final class GroupFigures implements Measured {
  private final Spread sizes = Spread.ofSizes();
  private final Spread times = Spread.ofTimes();

  /**
   * @param nanos that checking, writing and syncing the group took
   */
  void committed(int commits, long nanos) {
    sizes.add(commits);
    times.add(nanos);
  }

  @Override
  public void describe(Meters meters) {
    meters.spread("lectus_store_group_commits", "Commits that shared one synced write.", sizes);
    meters.spread(
        "lectus_store_sync_seconds", "Checking, writing and syncing one group of commits.", times);
  }
}
