package lectus.abuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.abuse.Line.Target;
import lectus.abuse.Line.Wire;
import lectus.http.testing.Request;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Documents of the greatest size in feeds whose clients hardly read: each row is a page by itself,
 * and takes a third of the memory of all pages in so small a heap.
 */
final class LargestDocumentsTest {
  private static final int HEAP_MEGABYTES = 256;
  private static final int TEXT_BYTES = 7_990_000;
  private static final int RECEIVE_BYTES = 4_096;
  private static final int READ_BYTES = 400;
  private static final int OF_EACH_KIND = 12;
  private static final int WRITTEN = 3;
  private static final String CHANGES = "/largest/_changes?include_docs=true";

  private static final List<String> FORMS =
      List.of("&feed=continuous", "&feed=eventsource", "&feed=longpoll", "&feed=normal");

  @TempDir private Path folder;
  private ServerProcess server;
  private Target target;
  private final List<Line> lines = new ArrayList<>();

  @BeforeEach
  void start() {
    assumeTrue(ServerProcess.canBeWatched() && !TestStores.isCluster());
    server = ServerProcess.start(folder, HEAP_MEGABYTES, "http.stalled-seconds=1");
    target = new Target(server.port());
    new Request(server.port(), "PUT", "/largest").send().expect(201);
  }

  @AfterEach
  void stop() {
    lines.forEach(Line::close);
    if (server != null) {
      server.close();
    }
  }

  @Test
  void clients_who_hardly_read_take_no_more_than_their_share_of_the_heap() {
    writeOrdinary();
    write("before");
    for (int i = 0; i < OF_EACH_KIND; i++) {
      for (String since : List.of("0", "now")) {
        FORMS.forEach(form -> lines.add(line(Wire.get(CHANGES + "&since=" + since + form))));
        lines.add(line(Wire.upgrade("/_changes")).say(subscription(since)));
      }
    }
    turnUntil(() -> lines.stream().allMatch(line -> line.read() > 0));
    turnWhile(() -> IntStream.range(0, WRITTEN).forEach(i -> write("after" + i)));
    turnWhile(() -> read("ordinary0"));
    lines.forEach(Line::close);
    read("before");
    assertThat(ServerLog.complaints(server.log())).isEmpty();
    assertThat(server.isAlive()).isTrue();
  }

  private Line line(String request) {
    return Line.to(target, RECEIVE_BYTES).say(request);
  }

  private static byte[] subscription(String since) {
    return Wire.subscribe("a", "largest", ",\"include_docs\":true,\"since\":\"" + since + "\"");
  }

  /** Writes enough for a first page. */
  private void writeOrdinary() {
    String text = "a".repeat(1_000);
    String docs =
        IntStream.range(0, 300)
            .mapToObj(i -> "{\"_id\":\"ordinary" + i + "\",\"text\":\"" + text + "\"}")
            .collect(Collectors.joining(","));
    Request request = new Request(server.port(), "POST", "/largest/_bulk_docs");
    request.json("{\"docs\":[" + docs + "]}").send().expect(201);
  }

  private void write(String id) {
    String json = "{\"text\":\"" + "a".repeat(TEXT_BYTES) + "\"}";
    Request request = new Request(server.port(), "PUT", "/largest/" + id).json(json);
    Await.until("the document is stored", () -> request.send().status() == 201);
  }

  private void read(String id) {
    Request request = new Request(server.port(), "GET", "/largest/" + id);
    Await.until(id + " is read", () -> request.send().status() == 200);
  }

  /** Lets the clients read a little now and then while something else is done. */
  private void turnWhile(Runnable other) {
    CompletableFuture<Void> done = CompletableFuture.runAsync(other);
    turnUntil(done::isDone);
    done.join();
  }

  private void turnUntil(BooleanSupplier isOver) {
    Await.until(
        "it is over",
        () -> {
          lines.forEach(line -> line.turn(READ_BYTES));
          return isOver.getAsBoolean();
        });
  }
}
