package lectus.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.util.Map;
import lectus.http.testing.LectusServer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.lightcouch.Changes;
import org.lightcouch.CouchDbClient;
import org.lightcouch.DocumentConflictException;
import org.lightcouch.Response;

/** LightCouch, which reads a live feed line by line through Apache's client and its inflater. */
final class LightCouchTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  @Test
  void documents_and_a_live_feed() {
    try (LectusServer server = LectusServer.start(stores.fresh())) {
      URI url = URI.create(server.url());
      CouchDbClient client =
          new CouchDbClient("light", true, "http", url.getHost(), url.getPort(), null, null);
      Response first = client.save(Map.of("_id", "a", "n", 1));
      assertThatThrownBy(() -> client.save(Map.of("_id", "a")))
          .isInstanceOf(DocumentConflictException.class);
      assertThat(client.changes().includeDocs(true).getChanges().getResults()).hasSize(1);

      String since = client.context().info().getUpdateSeq();
      Changes live = client.changes().includeDocs(true).since(since).continuousChanges();
      client.update(Map.of("_id", "a", "_rev", first.getRev(), "n", 2));
      assertThat(live.hasNext()).isTrue();
      assertThat(live.next().getDoc().get("n").getAsInt()).isEqualTo(2);
      live.stop();
      client.shutdown();
    }
  }
}
