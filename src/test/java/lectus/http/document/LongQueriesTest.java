package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Queries that look at every document and take long for each. */
final class LongQueriesTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final int DOCUMENTS = 2_000;
  private static final int BATCH = 400;
  private static final int CLIENTS = 20;
  private static final int REQUESTS = 4;

  @Test
  void other_clients_are_answered_meanwhile_and_they_end_when_their_clients_leave() {
    try (LectusServer server = LectusServer.start(stores.fresh())) {
      server.put("/w");
      for (int from = 0; from < DOCUMENTS; from += BATCH) {
        assertThat(server.post("/w/_bulk_docs", documents(from)).status()).isEqualTo(201);
      }
      List<Connection> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        clients.add(server.request("POST", "/w/_find").json(query()).open());
      }
      Await.until("they are answered", LongQueriesTest::isMatching);
      for (int i = 0; i < REQUESTS; i++) {
        assertThat(server.get("/w/d" + i).status()).isEqualTo(200);
        assertThat(server.post("/w/_find", "{\"selector\":{\"_id\":\"d1\"}}").body())
            .contains("d1");
      }
      Await.until("they are still answered", LongQueriesTest::isMatching);
      clients.forEach(Connection::close);
      Await.until("nobody is answered", () -> !isMatching());
    }
  }

  private static String documents(int from) {
    String text = "x".repeat(1_000);
    return IntStream.range(from, from + BATCH)
        .mapToObj(i -> "{\"_id\":\"d" + i + "\",\"t\":\"" + text + "\"}")
        .collect(Collectors.joining(",", "{\"docs\":[", "]}"));
  }

  /** Each alternative looks at all of each text. */
  private static String query() {
    return IntStream.range(0, 20)
        .mapToObj(i -> "{\"t\":{\"$regex\":\"(x+x+)+(x+x+)+y" + i + "\"}}")
        .collect(Collectors.joining(",", "{\"selector\":{\"$or\":[", "]}}"));
  }

  private static boolean isMatching() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Arrays::stream)
        .anyMatch(frame -> frame.getClassName().equals("lectus.mango.query.FindPage"));
  }
}
