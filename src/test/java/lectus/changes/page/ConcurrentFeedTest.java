package lectus.changes.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.audit.testing.SoundStore;
import lectus.changes.testing.FeedDatabase;
import lectus.document.PagedBody;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * RFC 003: an answer assembled from several transactions, while others write, shows every document
 * at least once, in ascending order. The last row of each document tells its state at the end.
 */
class ConcurrentFeedTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final Pattern ROW =
      Pattern.compile(
          "\\{\"seq\":\"(\\w+)\",\"id\":\"(\\w+)\",\"changes\":\\[\\{\"rev\":\"([\\w-]+)\"}]");
  private static final Pattern LAST = Pattern.compile("\"last_seq\":\"(\\w+)\"");

  private static final int WRITERS = 3;
  private static final int DOCUMENTS_PER_WRITER = 20;
  private static final int FEEDS = 12;

  /**
   * Updates of each writer: on a slow store, pages of one row never catch up with endless writers.
   */
  private static final int MAX_UPDATES = 3_000;

  private final FeedDatabase db = new FeedDatabase(stores.fresh(), 2);

  /** Each document's last acknowledged revision. */
  private final Map<String, RevisionId> written = new ConcurrentHashMap<>();

  private final AtomicBoolean stopped = new AtomicBoolean();

  private static final int PAGE = 10;
  private static final int DOCUMENTS = 30;

  private record Row(String sequence, String id, String revision) {}

  @Test
  void no_change_is_lost_between_pages() throws Exception {
    for (int writer = 0; writer < WRITERS; writer++) {
      for (int i = 0; i < DOCUMENTS_PER_WRITER; i++) {
        update(id(writer, i));
      }
    }
    ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
    List<Future<?>> writing = new ArrayList<>();
    for (int writer = 0; writer < WRITERS; writer++) {
      int number = writer;
      writing.add(threads.submit(() -> keepWriting(number)));
    }

    List<String> stitched = new ArrayList<>();
    for (int i = 0; i < FEEDS; i++) {
      stitched.add(
          db.normal(
              SmallPages.of(db, 1 + i, 1),
              FeedOptions.DEFAULT,
              "0",
              ChangesReader.NO_LIMIT,
              false));
    }
    stopped.set(true);
    for (Future<?> writer : writing) {
      writer.get();
    }
    threads.shutdown();

    stitched.forEach(this::assertComplete);
  }

  private void assertComplete(String answer) {
    List<Row> rows = rows(answer);
    assertThat(rows.stream().map(Row::sequence)).isSorted().doesNotHaveDuplicates();

    // What the feed missed lies after its last sequence; together they show everything.
    Matcher last = LAST.matcher(answer);
    assertThat(last.find()).isTrue();
    Map<String, String> state = new HashMap<>();
    rows.forEach(row -> state.put(row.id(), row.revision()));
    rows(db.normal(FeedOptions.DEFAULT, last.group(1), ChangesReader.NO_LIMIT, false))
        .forEach(row -> state.put(row.id(), row.revision()));
    written.forEach((id, revision) -> assertThat(state).containsEntry(id, revision.toString()));
  }

  private void keepWriting(int writer) {
    Random random = new Random(writer);
    for (int i = 0; i < MAX_UPDATES && !stopped.get(); i++) {
      update(id(writer, random.nextInt(DOCUMENTS_PER_WRITER)));
    }
  }

  private void update(String id) {
    written.put(id, db.put(id, written.get(id), "{}"));
  }

  private static String id(int writer, int number) {
    return "w" + writer + "d" + number;
  }

  private static List<Row> rows(String answer) {
    List<Row> rows = new ArrayList<>();
    Matcher matcher = ROW.matcher(answer);
    while (matcher.find()) {
      rows.add(new Row(matcher.group(1), matcher.group(2), matcher.group(3)));
    }
    return rows;
  }

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
