package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.document.read.AllDocsSubspace;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.json.TupleWriter;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Stored data that cannot be read: damaged, or of a newer version. */
final class UnreadableDataTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  private final TestDatabase db = TestDatabase.create(store);
  @AutoClose private final LectusServer server = LectusServer.start(store);

  private Answer listWithRow(byte[] value) {
    byte[] key = db.read((tx, handle) -> new AllDocsSubspace(handle).key("a"));
    db.transactions.run(
        tx -> {
          tx.set(key, value);
          return null;
        });
    return server.get("/db/_all_docs");
  }

  @Test
  void a_newer_format_asks_for_a_newer_version() {
    Answer answer = listWithRow(new TupleWriter(8).integer(2).toBytes()).expect(500);
    assertThat(answer.member("reason"))
        .isEqualTo(
            "Stored data was written by a newer version of Lectus, which is needed to read it.");
  }

  @Test
  void damage_is_called_damage() {
    Answer answer = listWithRow(new byte[] {0x15, 1, 0x33}).expect(500);
    assertThat(answer.member("reason")).isEqualTo("Stored data is damaged; the log says where.");
  }
}
