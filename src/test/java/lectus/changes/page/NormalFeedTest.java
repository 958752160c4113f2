package lectus.changes.page;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.changes.testing.FeedDatabase;
import lectus.document.PagedBody;
import lectus.json.JsonBuffer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When a normal feed ends while others write. */
final class NormalFeedTest {
  private static final int PAGE = 10;
  private static final int DOCUMENTS = 30;

  @RegisterExtension static final TestStores stores = new TestStores();

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void a_feed_ends_though_more_is_written_than_it_reads(int shards) {
    FeedDatabase db = new FeedDatabase(stores.fresh(), shards);
    db.putAll("old", DOCUMENTS);
    PagedBody feed =
        SmallPages.of(db, PAGE, 1 << 20)
            .answer(db.name, FeedOptions.DEFAULT, FeedPosition.since("0"), ChangesReader.NO_LIMIT);
    JsonBuffer body = new JsonBuffer(1 << 10);

    int pages = 1;
    for (; feed.appendNext(body); pages++) {
      assertThat(pages).as("pages").isLessThan(10);
      db.putAll("new" + pages + "-", 2 * PAGE);
    }

    String answer = body.toString();
    for (int i = 0; i < DOCUMENTS; i++) {
      assertThat(answer).containsOnlyOnce("\"id\":\"old" + i + "\"");
    }
    int rows = answer.split("\"id\":", -1).length - 1;
    int written = DOCUMENTS + (pages - 1) * 2 * PAGE;
    assertThat(rows).isLessThan(written);
    String lastSeq = answer.substring(answer.indexOf("\"last_seq\":\"") + 12);
    String rest =
        db.normal(
            FeedOptions.DEFAULT,
            lastSeq.substring(0, lastSeq.indexOf('"')),
            ChangesReader.NO_LIMIT,
            false);
    assertThat(rest.split("\"id\":", -1).length - 1).isEqualTo(written - rows);
    assertThat(answer).contains("\"pending\":" + (written - rows) + "}");
  }
}
