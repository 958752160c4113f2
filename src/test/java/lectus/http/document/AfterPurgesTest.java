package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What feeds and a database's other resources answer right after purges. */
final class AfterPurgesTest {
  @RegisterExtension
  @Order(1)
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  @RegisterExtension
  @Order(2)
  static final PurgedDatabase purged = new PurgedDatabase(stores);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "POST|/w/_missing_revs|{\"a\":[\"1-x\"]}|200|{\"missing_revs\":{\"a\":[\"1-x\"]}}",
        "POST|/w/_revs_diff|{\"a\":[\"1-x\"]}|200|{\"a\":{\"missing\":[\"1-x\"]}}",
        "GET|/w/_revs_limit||200|1000",
        "PUT|/w/_revs_limit|5|200|{\"ok\":true}",
        "GET|/w/_local_docs||200|{\"total_rows\":null,\"offset\":null,\"rows\":[",
        "GET|/w/_local/l||200|{\"_id\":\"_local/l\",\"_rev\":\"0-1\",\"kept\":true}",
        "POST|/w/_ensure_full_commit|{}|201|{\"ok\":true",
        "POST|/w/_compact|{}|202|{\"ok\":true}",
        "POST|/w/_bulk_get|{\"docs\":[{\"id\":\"a\",\"rev\":\"1-x\"}]}|200|"
            + "{\"results\":[{\"id\":\"a\",\"docs\":[{\"error\"",
        "GET|/w/_all_docs?key=\"a\"||200|{\"total_rows\":0,\"offset\":0,\"rows\":[",
        "GET|/w/_design_docs||200|{\"total_rows\":0",
      })
  void resources_of_the_database_answer_as_if_it_had_never_been(
      String method, String target, String body, int status, String begin) {
    purged.server().put("/w/_local/l", "{\"kept\":true}");
    purged
        .server()
        .post(
            "/w/_bulk_docs",
            "{\"new_edits\":false,\"docs\":[{\"_id\":\"a\",\"_rev\":\"1-x\",\"v\":1}]}");
    purged.purge("a", "1-x");

    Answer answer =
        body == null
            ? purged.server().request(method, target.replace("\"", "%22")).send()
            : purged.server().request(method, target).json(body).send();

    assertThat(answer.status()).as(answer.body()).isEqualTo(status);
    assertThat(answer.body()).startsWith(begin);
  }

  @Test
  void since_the_place_of_a_purged_document_a_feed_goes_on_behind_it() {
    purged.server().write("/w/before", "{}");
    String gone = purged.server().write("/w/gone", "{}");
    String place = purged.server().get("/w").member("update_seq");
    purged.server().write("/w/after", "{}");

    purged.purge("gone", gone);

    for (String kind : new String[] {"", "&feed=longpoll"}) {
      assertThat(purged.server().get("/w/_changes?since=" + place + kind).body())
          .contains("\"id\":\"after\"")
          .doesNotContain("gone")
          .doesNotContain("before");
    }
  }

  @Test
  void a_feed_since_the_place_of_a_purge_waits_for_the_next_change() {
    purged.purge("gone", purged.server().write("/w/gone", "{}"));
    String now = purged.server().get("/w").member("update_seq");
    try (Connection feed =
        purged.server().request("GET", "/w/_changes?feed=continuous&since=" + now).open()) {
      feed.readHead();
      purged.server().write("/w/next", "{}");
      assertThat(feed.chunkTextBegins()).contains("\"id\":\"next\"");
    }
  }

  @Test
  void the_feed_of_all_databases_tells_of_a_purge() {
    String gone = purged.server().write("/w/gone", "{}");
    String since = purged.server().get("/_db_updates").member("last_seq");
    assertThat(purged.server().get("/_db_updates?since=" + since).body()).doesNotContain("\"w\"");

    purged.purge("gone", gone);

    assertThat(purged.server().get("/_db_updates?feed=longpoll&since=" + since).body())
        .contains("\"db_name\":\"w\",\"type\":\"updated\"");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void no_feed_ends_before_the_place_of_a_purge(int documents) {
    String[] revisions = new String[documents];
    for (int i = 0; i < documents; i++) {
      revisions[i] = purged.server().write("/w/d" + i, "{}");
    }
    String before = purged.server().get("/w/_changes").member("last_seq");
    for (int i = documents - 1; i >= 0; i--) {
      purged.purge("d" + i, revisions[i]);

      String last = purged.server().get("/w").member("update_seq");
      assertThat(last).isGreaterThan(before);
      for (String since : new String[] {"0", before, last, "now"}) {
        for (String filter :
            new String[] {"", "&filter=_design", "&filter=_doc_ids&doc_ids=[%22x%22]"}) {
          assertThat(purged.server().get("/w/_changes?since=" + since + filter).member("last_seq"))
              .as(since + filter)
              .isEqualTo(last);
        }
      }
      assertThat(
              purged
                  .server()
                  .get("/w/_changes?feed=longpoll&timeout=1&since=" + before)
                  .member("last_seq"))
          .isEqualTo(last);
      before = last;
    }
  }
}
