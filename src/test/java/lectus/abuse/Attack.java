package lectus.abuse;

import java.util.List;
import java.util.Random;

/**
 * Something that no client may do to others. It has few threads and leaves everything open until it
 * ends.
 */
public sealed interface Attack
    permits HangUps,
        HugeFilters,
        MalformedFrames,
        MalformedHttp,
        ManyDatabases,
        ReshardingStorm,
        SelectorBombs,
        SlowBodies,
        SlowReaders,
        SlowSocketReaders,
        SubscriptionFlood,
        UnfinishedMessages {

  /** Returns all attacks, in the size that broke earlier servers. */
  static List<Attack> all() {
    return List.of(
        new SlowBodies(3_400, 62_000),
        new UnfinishedMessages(740, 250_000),
        new SlowReaders(200),
        new SlowSocketReaders(200),
        new SelectorBombs(24),
        new HugeFilters(3, 60_000_000),
        new SubscriptionFlood(4, 1_000),
        new ManyDatabases(1_000),
        new ReshardingStorm(4),
        new MalformedHttp(16),
        new MalformedFrames(16),
        new HangUps(300));
  }

  /** Runs until the deadline. */
  void run(Target target, Random dice, Deadline deadline);

  default String title() {
    return getClass().getSimpleName();
  }
}
