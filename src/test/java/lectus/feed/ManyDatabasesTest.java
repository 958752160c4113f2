package lectus.feed;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.document.PageLimits;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import lectus.updates.StoreDatabases;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The changes of many databases in one order. */
final class ManyDatabasesTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final Pattern ID = Pattern.compile("\"id\":\"([^\"]*)\"");

  private final Store store = stores.fresh();
  private final StoreDatabases databases = new StoreDatabases(store);

  @Test
  void changes_come_in_the_order_of_their_commits() {
    databases.create("user-a");
    databases.create("user-b");
    databases.create("other");
    databases.put("user-a", "1");
    databases.put("user-b", "2");
    databases.put("other", "x");
    databases.put("user-a", "3", "4");
    databases.put("user-b", "5");
    databases.put("user-a", "1");

    assertThat(all("user-*", 100))
        .containsExactly("user-b 2", "user-a 3", "user-a 4", "user-b 5", "user-a 1");
    assertThat(all("user-*", 1)).isEqualTo(all("user-*", 100));
  }

  @Test
  void a_row_is_what_the_database_s_own_feed_has() {
    databases.create("a");
    databases.put("a", "x");
    LivePage<StorePosition> page = source("a").page(StorePosition.BEGINNING, 10);
    String row = new String(page.rows().json(), StandardCharsets.UTF_8);
    String own =
        FeedDatabase.whole(
            new ChangesReader(databases.catalogue, databases.transactions)
                .answer(
                    lectus.database.DatabaseName.of("a"),
                    FeedOptions.DEFAULT,
                    new Since.Beginning(),
                    10,
                    false));
    assertThat(own).contains("\n" + row + "\n");
    assertThat(row).contains(page.rows().at(0).text());
  }

  @Test
  void any_position_of_a_row_goes_on_behind_it() {
    for (int i = 0; i < 5; i++) {
      databases.create("db" + i);
    }
    for (int i = 0; i < 40; i++) {
      databases.put("db" + i % 5, "a" + i, "b" + i);
    }
    List<String> all = all("db*", 100);
    assertThat(all).hasSize(80);
    LiveSource<StorePosition> source = source("db*");
    LivePage<StorePosition> page = source.page(StorePosition.BEGINNING, 100);
    for (int row = 0; row < 80; row += 7) {
      List<String> rest = new ArrayList<>();
      read(source("db*"), page.rows().at(row), 9, rest);
      assertThat(rest).isEqualTo(all.subList(row + 1, 80));
    }
  }

  @Test
  void a_database_created_later_joins_and_a_deleted_one_leaves_in_order() {
    databases.create("a1");
    databases.put("a1", "x");
    LiveSource<StorePosition> source = source("a*");
    List<String> seen = new ArrayList<>();
    StorePosition position = read(source, StorePosition.BEGINNING, 10, seen);
    assertThat(seen).containsExactly("a1 x");
    seen.clear();

    databases.create("a2");
    databases.put("a2", "y");
    databases.delete("a1");
    databases.put("a2", "z");
    databases.create("a1");
    databases.put("a1", "again");

    read(source, position, 10, seen);
    List<String> expected = List.of("a2 y", "left a1", "a2 z", "a1 again");
    assertThat(seen).isEqualTo(expected);
    seen.clear();
    read(source("a*"), position, 1, seen);
    assertThat(seen).isEqualTo(expected);
  }

  @Test
  void what_lived_and_died_behind_the_position_is_not_told() {
    databases.create("a");
    databases.put("a", "x");
    databases.delete("a");
    databases.create("b");
    databases.put("b", "y");
    assertThat(all("*", 10)).containsExactly("b y");
  }

  @Test
  void at_the_end_the_position_moves_without_rows() {
    databases.create("a");
    LiveSource<StorePosition> source = source("b*");
    LivePage<StorePosition> page = source.page(StorePosition.BEGINNING, 10);
    assertThat(page.reachedEnd()).isTrue();
    assertThat(page.rows().isEmpty()).isTrue();
    databases.put("a", "x");
    LivePage<StorePosition> later = source.page(page.next(), 10);
    assertThat(later.next()).isGreaterThan(page.next());
  }

  private List<String> all(String set, int limit) {
    List<String> rows = new ArrayList<>();
    read(source(set), StorePosition.BEGINNING, limit, rows);
    return rows;
  }

  private LiveSource<StorePosition> source(String set) {
    return source(set, PageLimits.DEFAULT, ScanLimits.DEFAULT);
  }

  private LiveSource<StorePosition> source(String set, PageLimits pages, ScanLimits scans) {
    ManyDatabases reader =
        new ManyDatabases(store, databases.catalogue, databases.transactions, pages, scans);
    return reader
        .live(
            DatabaseSet.of(List.of(set)),
            FeedOptions.DEFAULT,
            StoreSince.BEGINNING,
            new NoEvents())
        .source();
  }

  /** Reads to the end; the position there. */
  private static StorePosition read(
      LiveSource<StorePosition> source, StorePosition from, int limit, List<String> into) {
    StorePosition position = from;
    LivePage<StorePosition> page;
    do {
      page = source.page(position, limit);
      Rows<StorePosition> rows = page.rows();
      for (int row = 0; row < rows.size(); row++) {
        assertThat(rows.at(row)).isGreaterThan(position);
        position = rows.at(row);
        into.add(text(rows, row));
      }
      assertThat(page.next()).isGreaterThanOrEqualTo(position);
      position = page.next();
    } while (!page.reachedEnd());
    return position;
  }

  private static String text(Rows<StorePosition> rows, int row) {
    if (rows.isLeft(row)) {
      return "left " + rows.database(row);
    }
    int length = rows.end(row) - rows.start(row);
    String json = new String(rows.json(), rows.start(row), length, StandardCharsets.UTF_8);
    Matcher id = ID.matcher(json);
    assertThat(id.find()).isTrue();
    return rows.database(row) + " " + id.group(1);
  }
}
