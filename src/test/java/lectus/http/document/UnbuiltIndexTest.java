package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.InstantSource;
import lectus.config.HttpKeys;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DerivedSubspace;
import lectus.derived.StoredIndex;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Queries that only an index serves that is being built: CouchDB would build it first. */
@Timeout(60)
final class UnbuiltIndexTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final String SORTED = "{'selector':{'a':{'$gt':0}},'sort':['a']}";
  private static final String NAMED =
      "{'selector':{'a':{'$gt':0}},'use_index':'x','allow_fallback':false}";

  private final Store store = stores.fresh();
  private final TransactionRunner transactions =
      new TransactionRunner(store, TransactionLimits.DEFAULT);
  private final Catalogue catalogue = new Catalogue(store, transactions, InstantSource.system());

  private static String json(String singleQuoted) {
    return singleQuoted.replace('\'', '"');
  }

  /** Starts a server with an index of one document that no job will finish. */
  private LectusServer withUnbuilt(int patienceSeconds) {
    LectusServer server =
        LectusServer.start(
            store, new TestSettings().with(HttpKeys.REQUEST_SECONDS, patienceSeconds));
    server.put("/d");
    server.write("/d/one", "{\"a\":1}");
    String index = json("{'index':{'fields':['a']},'ddoc':'x','name':'n'}");
    assertThat(server.post("/d/_index", index).status()).isEqualTo(200);
    mark(false);
    return server;
  }

  private void mark(boolean isReadable) {
    transactions.run(
        tx -> {
          DatabaseHandle db = catalogue.current(tx, DatabaseName.of("d"));
          StoredIndex index = db.indexes().all().get(0);
          new DerivedSubspace(db.prefix())
              .put(tx, new StoredIndex(index.number(), index.definition(), isReadable));
          catalogue.moveVersion(tx, db);
          return null;
        });
  }

  @Test
  void a_query_waits_for_it() {
    try (LectusServer server = withUnbuilt(30);
        Connection sorted = server.request("POST", "/d/_find").json(json(SORTED)).open();
        Connection named = server.request("POST", "/d/_find").json(json(NAMED)).open()) {
      Answer other = server.post("/d/_find", json("{'selector':{'a':1}}"));
      assertThat(other.body()).contains("\"one\"", "warning");
      mark(true);

      assertThat(sorted.read(false).body()).contains("\"one\"");
      assertThat(named.read(false).body()).contains("\"one\"");
    }
  }

  @Test
  void a_query_that_waits_too_long_is_told_why() {
    try (LectusServer server = withUnbuilt(1)) {
      Answer answer = server.post("/d/_find", json(SORTED));

      assertThat(answer.status()).isEqualTo(400);
      assertThat(answer.body()).contains("no_usable_index", "is being built");
      String useless = json("{'selector':{'b':1},'sort':['b']}");
      assertThat(server.post("/d/_find", useless).body())
          .contains("no_usable_index")
          .doesNotContain("is being built");
    }
  }
}
