package lectus.abuse;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.http.testing.Request;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Views whose rows are as large as they may be, in a heap that has room for few of them. */
final class LargestViewsTest {
  private static final int HEAP_MEGABYTES = 128;

  @TempDir private Path folder;
  @AutoClose private ServerProcess server;

  @BeforeEach
  void start() {
    assumeTrue(ServerProcess.canBeWatched() && !TestStores.isCluster());
    server = ServerProcess.start(folder, HEAP_MEGABYTES, "views.follow=none");
    put("/large", "");
  }

  private void put(String path, String json) {
    Request request = new Request(server.port(), "PUT", path);
    (json.isEmpty() ? request : request.json(json)).send().expect(201);
  }

  private void define(String map) {
    String reduce = "function(keys,values,again){return again?sum(values):values.length}";
    put(
        "/large/_design/d",
        json("{'views':{'v':{'map':'function(doc){%s}','reduce':'%s'}}}").formatted(map, reduce));
  }

  private void write(int documents, int atOnce, String member) {
    for (int from = 0; from < documents; from += atOnce) {
      String docs =
          IntStream.range(from, from + atOnce)
              .mapToObj(i -> "{\"_id\":\"d" + i + "\"," + member + "}")
              .collect(Collectors.joining(","));
      Request request = new Request(server.port(), "POST", "/large/_bulk_docs");
      request.json("{\"docs\":[" + docs + "]}").send().expect(201);
    }
  }

  private void assertReduced(int rows) {
    Request request = new Request(server.port(), "GET", "/large/_design/d/_view/v");
    Await.until("the view is built", () -> !server.isAlive() || request.send().status() == 200);
    assertThat(ServerLog.complaints(server.log())).isEmpty();
    assertThat(request.send().body()).contains("\"value\":" + rows + "}");
  }

  /** All together take half of the heap. */
  @Test
  void large_rows_are_reduced_a_few_at_a_time() {
    write(1_000, 50, "\"text\":\"" + "x".repeat(60_000) + "\"");
    define("emit(doc._id,doc.text)");
    assertReduced(1_000);
    put("/large/other", "{\"text\":\"" + "x".repeat(60_000) + "\"}");
    assertReduced(1_001);
  }

  /**
   * What one map emits would take the whole heap as a tree, and what eight do a fifth of it as
   * text.
   */
  @Test
  void documents_that_emit_as_much_as_they_may_are_mapped_a_few_at_a_time() {
    write(8, 8, "\"n\":44000");
    define("var a=[];for(var i=0;i<doc.n;i++)a.push(1);for(var k=0;k<40;k++)emit(k,a)");
    assertReduced(320);
  }
}
