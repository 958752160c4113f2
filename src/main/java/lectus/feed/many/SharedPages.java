package lectus.feed.many;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import lectus.database.DatabaseName;
import lectus.feed.LivePage;
import lectus.feed.Rows;
import lectus.feed.TailPage;
import lectus.feed.TailReader;
import lectus.feed.View;
import lectus.feed.ViewPage;
import lectus.feed.updates.StorePosition;

/**
 * Reads the new changes of many databases once for all users who want the same, and gives each the
 * rows of the databases that he may read.
 */
final class SharedPages implements TailReader<StorePosition> {
  private final ManyDatabasesSource everything;
  private final Set<View> views = new HashSet<>();

  SharedPages(ManyDatabasesSource everything) {
    this.everything = everything;
  }

  @Override
  public void add(View view) {
    views.add(view);
  }

  @Override
  public void remove(View view) {
    views.remove(view);
  }

  @Override
  public TailPage<StorePosition> page(StorePosition from) {
    ManyDatabases.Page read = everything.read(from, Long.MAX_VALUE);
    LivePage<StorePosition> page = read.shown();
    return new TailPage<>(from, views(read), page.next(), page.reachedEnd(), page.end());
  }

  private Map<View, ViewPage<StorePosition>> views(ManyDatabases.Page read) {
    Rows<StorePosition> all = read.shown().rows();
    Map<RowNumbers, ViewPage<StorePosition>> equal = new HashMap<>();
    Map<View, ViewPage<StorePosition>> pages = new HashMap<>();
    for (View view : views) {
      VisibleDatabases visible = (VisibleDatabases) view.shows();
      int[] chosen = seen(read, visible);
      Optional<DatabaseName> bereft =
          read.bereft().stream().filter(it -> visible.isAmong(read.readers().get(it))).findFirst();
      if (bereft.isPresent()) {
        pages.put(view, new ViewPage.Failed<>(everything.feedDeleted(bereft.get())));
        continue;
      }
      if (chosen.length > 0) {
        pages.put(
            view,
            equal.computeIfAbsent(
                new RowNumbers(chosen),
                none ->
                    new ViewPage.Shown<>(chosen.length == all.size() ? all : all.only(chosen))));
      }
    }
    return pages;
  }

  private static int[] seen(ManyDatabases.Page read, VisibleDatabases visible) {
    Rows<StorePosition> all = read.shown().rows();
    return visible.isOfEverything()
        ? IntStream.range(0, all.size()).toArray()
        : IntStream.range(0, all.size()).filter(row -> isSeen(read, row, visible)).toArray();
  }

  private static boolean isSeen(ManyDatabases.Page read, int row, VisibleDatabases visible) {
    Rows<StorePosition> all = read.shown().rows();
    return visible.isAmong(
        all.isLeft(row)
            ? read.formerReaders().get(all.at(row))
            : read.readers().get(all.database(row)));
  }

  /** Numbers of rows, compared by value. */
  private record RowNumbers(int[] rows) {
    @Override
    public boolean equals(Object other) {
      return other instanceof RowNumbers that && Arrays.equals(rows, that.rows);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(rows);
    }
  }
}
