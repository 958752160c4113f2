package lectus.changes.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.audit.testing.SoundStore;
import lectus.changes.filter.FeedFilter;
import lectus.changes.testing.FeedDatabase;
import lectus.revision.RevisionId;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random feeds in pages of all sizes over one shard and several, compared with a list. */
class FeedModelTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final Pattern ROW =
      Pattern.compile(
          "\\{\"seq\":\"(\\w+)\",\"id\":\"(\\w+)\",\"changes\":\\[\\{\"rev\":\"([\\w-]+)\"}]");

  private static final int DOCUMENTS = 40;

  private final Random random = new Random(20_261_121);

  private record Row(String sequence, String id, String revision) {}

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void every_feed_shows_what_the_model_shows(int shards) {
    FeedDatabase db = new FeedDatabase(stores.fresh(), shards);
    List<Row> model = write(db);

    for (int i = 0; i < 300; i++) {
      int from = random.nextInt(model.size() + 1);
      int limit = random.nextInt(DOCUMENTS + 5);
      boolean descending = random.nextInt(3) == 0;
      Set<String> ids =
          random.nextBoolean() ? Set.of() : Set.of("d1", "d7", "d30", "none", model.get(0).id());
      ChangesReader reader = SmallPages.of(db, 1 + random.nextInt(6), 1 + random.nextInt(400));
      String since = from == 0 ? "0" : model.get(from - 1).sequence();

      String answer = db.normal(reader, options(ids), since, limit, descending);

      List<Row> all = new ArrayList<>(descending ? model : model.subList(from, model.size()));
      if (descending) {
        Collections.reverse(all);
      }
      List<Row> shown =
          all.stream().filter(row -> ids.isEmpty() || ids.contains(row.id())).limit(limit).toList();
      assertThat(rows(answer)).as("feed %d: since %d, limit %d", i, from, limit).isEqualTo(shown);
      assertThat(answer.endsWith("\"pending\":0}\n"))
          .as("pending of feed %d: %s", i, answer)
          .isEqualTo(lookedAt(all, shown, limit) == all.size());
    }
  }

  /** A feed that used up its limit ended at its last row. */
  private static int lookedAt(List<Row> all, List<Row> shown, int limit) {
    if (shown.size() < limit) {
      return all.size();
    }
    return limit == 0 ? 0 : all.indexOf(shown.get(shown.size() - 1)) + 1;
  }

  private static FeedOptions options(Set<String> ids) {
    FeedFilter filter = ids.isEmpty() ? new FeedFilter.None() : new FeedFilter.DocumentIds(ids);
    return new FeedOptions(false, false, false, filter, 1);
  }

  /** Writes and updates documents; returns their last updates in order. */
  private List<Row> write(FeedDatabase db) {
    Map<String, RevisionId> last = new LinkedHashMap<>();
    for (int i = 0; i < 3 * DOCUMENTS; i++) {
      String id = "d" + random.nextInt(DOCUMENTS);
      RevisionId revision = db.put(id, last.remove(id), "{\"v\":" + i + "}");
      last.put(id, revision);
    }
    List<Row> rows = rows(db.normal(FeedOptions.DEFAULT, "0", ChangesReader.NO_LIMIT, false));
    Map<String, String> revisions = new HashMap<>();
    rows.forEach(row -> revisions.put(row.id(), row.revision()));
    last.forEach((id, revision) -> assertThat(revisions).containsEntry(id, revision.toString()));
    assertThat(rows.stream().map(Row::id)).containsExactlyElementsOf(last.keySet());
    return rows;
  }

  private static List<Row> rows(String answer) {
    List<Row> rows = new ArrayList<>();
    Matcher matcher = ROW.matcher(answer);
    while (matcher.find()) {
      rows.add(new Row(matcher.group(1), matcher.group(2), matcher.group(3)));
    }
    assertThat(answer.split("\"seq\":", -1)).hasSize(rows.size() + 1);
    return rows;
  }
}
