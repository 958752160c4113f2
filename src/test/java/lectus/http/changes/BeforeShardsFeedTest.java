package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.audit.testing.SoundStore;
import lectus.database.testing.BeforeShards;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** RFC 018, Backwards Compatibility: from the deprecated shard to its successors. */
final class BeforeShardsFeedTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final Pattern NOTICE =
      Pattern.compile("\"resharded\":\\{\"seq\":\"(\\w+)\",\"shards\":\\[\"(\\w+)\"]}");

  private Store store;
  @AutoClose private LectusServer server;

  @BeforeEach
  void lay() {
    store = stores.fresh();
    TestDatabase old = TestDatabase.create(store);
    old.put("a", "{}");
    old.put("b", "{}");
    BeforeShards.lay(old.transactions, old.catalogue.open(old.name));
    server = LectusServer.start(store);
  }

  private Matcher notice(String body) {
    Matcher notice = NOTICE.matcher(body);
    assertThat(notice.find()).as(body).isTrue();
    return notice;
  }

  private String next(Matcher notice) {
    return server.get("/db/_changes/" + notice.group(2) + "?since=" + notice.group(1)).body();
  }

  @Test
  void a_reader_that_follows_the_notice_sees_the_first_document() {
    server.write("/db/first", "{}");

    String deprecated = server.get("/db/_changes/deprecated").body();

    assertThat(deprecated).contains("\"id\":\"a\"", "\"id\":\"b\"").doesNotContain("first");
    assertThat(next(notice(deprecated))).contains("\"id\":\"first\"");
  }

  @Test
  void so_does_one_that_comes_with_many() {
    server.post("/db/_bulk_docs", "{\"docs\":[{\"_id\":\"first\"},{\"_id\":\"second\"}]}");

    String rows = next(notice(server.get("/db/_changes/deprecated").body()));

    assertThat(rows).contains("\"id\":\"first\"", "\"id\":\"second\"");
  }

  @Test
  void so_does_a_live_reader() {
    try (Connection feed =
        server
            .request("GET", "/db/_changes/deprecated?feed=longpoll&since=now&heartbeat=60000")
            .open()) {
      feed.readHead();
      assertThat(feed.chunkText()).isEqualTo("{\"results\":[\n");
      server.write("/db/first", "{}");

      assertThat(next(notice(feed.rest()))).contains("\"id\":\"first\"");
    }
  }

  @Test
  void a_reader_of_the_whole_database_that_knows_where_the_shard_begins_sees_it() {
    server.write("/db/first", "{}");

    String since = notice(server.get("/db/_changes/deprecated").body()).group(1);

    assertThat(server.get("/db/_changes?since=" + since).body()).contains("\"id\":\"first\"");
    assertThat(server.get("/db").member("update_seq")).isGreaterThan(since);
  }
}
