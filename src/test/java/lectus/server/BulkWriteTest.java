package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests whose edits wait for several transactions, two edits for each. */
final class BulkWriteTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final FaultyStore faulty = new FaultyStore(stores.fresh());

  /** A quarter of the queue is two edits, too, so that no transaction takes more of a request. */
  @AutoClose
  private final LectusServer server =
      LectusServer.start(faulty.store(), new TestSettings().oneExecutor(2).queue(8, 64 << 20));

  @BeforeEach
  void create() {
    server.put("/w");
  }

  private Answer writeSix() {
    String docs = "{'_id':'a'},{'_id':'b'},{'_id':'c'},{'_id':'d'},{'_id':'e'},{'_id':'f'}";
    return server.post("/w/_bulk_docs", ("{'docs':[" + docs + "]}").replace('\'', '"'));
  }

  @Test
  void what_is_stored_is_told_when_a_later_transaction_fails() {
    faulty.keepFailing(
        FaultyStore.onThreads("lectus-executor", List.of(Fault.NONE, Fault.IO_ERROR)));

    Answer answer = writeSix().expect(201);
    String failed = "\",\"error\":\"internal_server_error\",\"reason\":\"[^\"]+\"}";
    assertThat(answer.body())
        .matches(
            "\\[\\{\"ok\":true,\"id\":\"a\",[^}]+},\\{\"ok\":true,\"id\":\"b\",[^}]+},"
                + ("\\{\"id\":\"c" + failed + ",")
                + ("\\{\"id\":\"d" + failed + ",")
                + ("\\{\"id\":\"e" + failed + ",")
                + ("\\{\"id\":\"f" + failed + "]\n"));
    assertThat(server.get("/w").body()).contains("\"doc_count\":2,");
  }

  private Answer replicateSix() {
    String docs =
        Stream.of("a", "b", "c", "d", "e", "f")
            .map(id -> "{\"_id\":\"" + id + "\",\"_rev\":\"1-x\"}")
            .collect(Collectors.joining(","));
    return server.post("/w/_bulk_docs", "{\"new_edits\":false,\"docs\":[" + docs + "]}");
  }

  @Test
  void a_replicators_request_fails_as_a_whole_when_a_later_transaction_does() {
    faulty.keepFailing(
        FaultyStore.onThreads("lectus-executor", List.of(Fault.NONE, Fault.IO_ERROR)));

    replicateSix().expect(500);
    assertThat(server.get("/w").body()).contains("\"doc_count\":2,");

    replicateSix().expect(201, "[]\n");
    assertThat(server.get("/w").body()).contains("\"doc_count\":6,");
  }

  @Test
  void a_request_of_which_nothing_is_stored_fails_as_a_whole() {
    faulty.keepFailing(FaultyStore.onThreads("lectus-executor", List.of(Fault.IO_ERROR)));

    writeSix().expect(500);
    assertThat(server.get("/w").body()).contains("\"doc_count\":0,");
  }
}
