package lectus.changes.page;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import lectus.changes.testing.FeedDatabase;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.Sequence;
import lectus.database.testing.TestLayout;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class DatabaseInfoTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final FeedDatabase db = new FeedDatabase(stores.fresh(), 1);
  private final DatabaseInfo info = new DatabaseInfo(db.catalogue, db.transactions);

  @Test
  void empty_database() {
    assertThat(info())
        .isEqualTo(
            json("{'instance_start_time':'1795253100','db_name':'db','purge_seq':'0','update_seq':'0','sizes':{'file':0,'external':0,'active':0},'props':{'layout':'%s'},'doc_del_count':0,'doc_count':0,'disk_format_version':8,'compact_running':false,'cluster':{'q':1,'n':1,'w':1,'r':1}}")
                .formatted(TestLayout.OF_RUN.text()));
  }

  @Test
  void counters_and_update_sequence() {
    db.put("a", null, "{\"v\":1}");
    RevisionId b1 = db.put("b", null, "{\"v\":1}");
    db.put("c", null, "{}");
    db.put("b", b1, "{\"_deleted\":true}");
    String last = db.changes.updateSequence(db.name).map(Sequence::toString).orElseThrow();

    assertThat(info())
        .contains("\"update_seq\":\"" + last + "\"", "\"doc_del_count\":1,\"doc_count\":2")
        .containsPattern("\"sizes\":\\{\"file\":[1-9]\\d*,\"external\":[1-9]\\d*,");
  }

  @Test
  void database_that_does_not_exist() {
    assertThatThrownBy(
            () ->
                info.append(DatabaseRequest.byServer(DatabaseName.of("none")), new JsonBuffer(64)))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("Database does not exist.");
  }

  private String info() {
    JsonBuffer out = new JsonBuffer(64);
    info.append(DatabaseRequest.byServer(db.name), out);
    return out.toString();
  }
}
