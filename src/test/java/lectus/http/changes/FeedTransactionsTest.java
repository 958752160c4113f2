package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.store.WatchedStore;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The number of transactions of a normal feed (RFC 003, Access Patterns). */
final class FeedTransactionsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final WatchedStore store = new WatchedStore(stores.fresh(), "lectus-reader");
  @AutoClose private final LectusServer server = LectusServer.start(store.store());

  @BeforeEach
  void fill() {
    server.put("/w");
    write(3);
  }

  private void write(int documents) {
    String docs =
        IntStream.range(0, documents).mapToObj(i -> "{}").collect(Collectors.joining(","));
    server.post("/w/_bulk_docs", "{\"docs\":[" + docs + "]}").expect(201);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "?limit=2",
        "?descending=true",
        "?descending=true&limit=0",
        "?include_docs=true",
        "?filter=_design"
      })
  void an_answer_of_one_page_is_of_one_transaction_and_so_is_that_nothing_changed(String query) {
    String target = "/w/_changes" + query;
    int before = store.begun();
    Answer feed = server.get(target).expect(200);
    assertThat(store.begun() - before).isEqualTo(1);

    Answer unchanged =
        server.request("GET", target, "If-None-Match", feed.header("etag")).send().expect(304);
    assertThat(unchanged.body()).isEmpty();
    assertThat(unchanged.header("etag")).isEqualTo(feed.header("etag"));
    assertThat(store.begun() - before).isEqualTo(2);

    write(1);
    Answer changed =
        server.request("GET", target, "If-None-Match", feed.header("etag")).send().expect(200);
    assertThat(changed.header("etag")).isNotEqualTo(feed.header("etag"));
  }

  @Test
  void an_answer_of_one_page_of_db_updates_is_of_one_transaction() {
    String last = server.get("/_db_updates").member("last_seq");
    for (String query :
        List.of("", "?since=" + last, "?limit=0", "?descending=true", "?descending=true&limit=0")) {
      int before = store.begun();
      server.get("/_db_updates" + query).expect(200);
      assertThat(store.begun() - before).as(query).isEqualTo(1);
    }
  }

  @Test
  void an_answer_of_several_pages_is_of_as_many_transactions() {
    write(5_000);
    int before = store.begun();
    Answer feed = server.get("/w/_changes");
    assertThat(feed.body()).contains("\"pending\":0");
    assertThat(feed.body().lines().filter(line -> line.startsWith("{\"seq\"")).count())
        .isEqualTo(5_003);
    assertThat(store.begun() - before).isGreaterThan(1);
    server.request("GET", "/w/_changes", "If-None-Match", feed.header("etag")).send().expect(304);
  }
}
