package lectus.abuse;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.attachment.SweptStore;
import lectus.http.testing.Connection;
import lectus.http.testing.Request;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Attachments that are longer than the heap. A gigabyte: {@code
 * -Dlectus.test.attachment-megabytes=1000}.
 */
class LargeAttachmentsTest {
  private static final int HEAP_MEGABYTES = 96;
  private static final long TOTAL =
      Long.getLong("lectus.test.attachment-megabytes", HEAP_MEGABYTES + 4L) * 1_000_000;

  /** Of an attachment inside of a document. */
  private static final int INLINE_BYTES = 1_000_000;

  private static final int SLOW_READERS = 200;
  private static final int RECEIVE_BYTES = 1 << 16;
  private static final int PLAIN_BYTES = 40_000;
  private static final String PLAIN = "x".repeat(PLAIN_BYTES);

  private final HttpClient client = HttpClient.newHttpClient();

  @BeforeAll
  static void onlyEmbedded() {
    TestStores.onlyEmbedded();
    assumeTrue(ServerProcess.canBeWatched(), "This system has no /proc");
  }

  @Test
  void they_go_in_and_out(@TempDir Path folder) throws Exception {
    try (ServerProcess server = ServerProcess.start(folder, HEAP_MEGABYTES)) {
      assertThat(put(server, "/w", BodyPublishers.noBody())).isEqualTo(201);
      assertThat(put(server, "/w/doc/f", bytes())).isEqualTo(201);
      assertGot(server, "/w/doc/f");
      HttpRequest inline =
          request(server, "/w/doc?attachments=true").header("Accept", "application/json").build();
      try (InputStream json = client.send(inline, BodyHandlers.ofInputStream()).body()) {
        assertThat(json.transferTo(OutputStream.nullOutputStream())).isGreaterThan(TOTAL / 3 * 4);
      }
      readBesideSlowReaders(server);
      assertThat(server.log()).noneMatch(line -> line.contains("OutOfMemory"));
    }
    try (Store store = EmbeddedStores.open(ServerProcess.data(folder))) {
      SweptStore.assertClean(store, "w");
    }
  }

  /** They are in the middle of the attachment, or are refused if others hold too much. */
  private void readBesideSlowReaders(ServerProcess server) throws Exception {
    List<Connection> slow = new ArrayList<>();
    try {
      for (int i = 0; i < SLOW_READERS; i++) {
        String list = i % 2 == 0 ? "_all_docs?" : "_changes?feed=continuous&";
        String target = "/w/" + list + "include_docs=true&attachments=true";
        slow.add(
            new Connection(server.port(), RECEIVE_BYTES)
                .write(new Request(server.port(), "GET", target).bytes()));
      }
      List<Integer> statuses = slow.stream().map(it -> it.readHead().status()).toList();
      assertThat(statuses).contains(200).isSubsetOf(200, 503);
      HttpRequest rows = request(server, "/w/_all_docs?limit=1").build();
      assertThat(client.send(rows, BodyHandlers.ofString()).body()).contains("\"id\":\"doc\"");
    } finally {
      slow.forEach(Connection::abort);
    }
  }

  @Test
  void so_do_those_inside_of_documents_and_many_documents(@TempDir Path folder) throws Exception {
    int count = (int) (TOTAL / INLINE_BYTES);
    try (ServerProcess server = ServerProcess.start(folder, HEAP_MEGABYTES)) {
      assertThat(put(server, "/w", BodyPublishers.noBody())).isEqualTo(201);
      HttpResponse<String> written = bulk(server, count, LargeAttachmentsTest::attached);
      assertThat(written.statusCode()).as(written.body()).isEqualTo(201);
      assertThat(written.body().split("\"ok\":true")).hasSize(count + 1);
      assertThat(lengthOfAll(server, count)).isGreaterThan(TOTAL / 3 * 4);
      assertThat(client.send(request(server, "/w/d7/f").build(), BodyHandlers.ofByteArray()).body())
          .isEqualTo(new CountedBytes(INLINE_BYTES).readAllBytes());

      int documents = (int) (TOTAL / 4 / PLAIN_BYTES);
      HttpResponse<String> plain =
          bulk(server, documents, i -> "{\"_id\":\"p" + i + "\",\"v\":\"" + PLAIN + "\"}");
      assertThat(plain.statusCode()).as(plain.body()).isEqualTo(201);
      Matcher ids = Pattern.compile("\"ok\":true,\"id\":\"p(\\d+)\"").matcher(plain.body());
      assertThat(ids.results().map(id -> Integer.parseInt(id.group(1))).toList())
          .isEqualTo(IntStream.range(0, documents).boxed().toList());
      assertThat(server.log()).noneMatch(line -> line.contains("OutOfMemory"));
    }
    try (Store store = EmbeddedStores.open(ServerProcess.data(folder))) {
      SweptStore.assertClean(store, "w");
    }
  }

  private static String attached(int number) {
    byte[] bytes;
    try (InputStream counted = new CountedBytes(INLINE_BYTES)) {
      bytes = counted.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return json("{'_id':'d%s','_attachments':{'f':{'content_type':'image/x','data':'%s'}}}")
        .formatted(number, Base64.getEncoder().encodeToString(bytes));
  }

  private HttpResponse<String> bulk(ServerProcess server, int count, IntFunction<String> document)
      throws IOException, InterruptedException {
    Iterator<InputStream> parts =
        IntStream.rangeClosed(0, count)
            .<InputStream>mapToObj(i -> part(i, count, document))
            .iterator();
    InputStream body =
        new SequenceInputStream(
            new Enumeration<>() {
              @Override
              public boolean hasMoreElements() {
                return parts.hasNext();
              }

              @Override
              public InputStream nextElement() {
                return parts.next();
              }
            });
    HttpRequest request =
        request(server, "/w/_bulk_docs")
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofInputStream(() -> body))
            .build();
    return client.send(request, BodyHandlers.ofString());
  }

  private static InputStream part(int i, int count, IntFunction<String> document) {
    String text = i < count ? (i == 0 ? "{\"docs\":[" : ",") + document.apply(i) : "]}";
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  private long lengthOfAll(ServerProcess server, int count)
      throws IOException, InterruptedException {
    String asked =
        IntStream.range(0, count)
            .mapToObj(i -> "{\"id\":\"d" + i + "\"}")
            .collect(Collectors.joining(",", "{\"docs\":[", "]}"));
    HttpRequest request =
        request(server, "/w/_bulk_get?attachments=true")
            .header("Content-Type", "application/json")
            .header("Accept", "application/json")
            .POST(BodyPublishers.ofString(asked))
            .build();
    HttpResponse<InputStream> got = client.send(request, BodyHandlers.ofInputStream());
    assertThat(got.statusCode()).isEqualTo(200);
    try (InputStream body = got.body()) {
      return body.transferTo(OutputStream.nullOutputStream());
    }
  }

  private static BodyPublisher bytes() {
    return BodyPublishers.fromPublisher(
        BodyPublishers.ofInputStream(() -> new CountedBytes(TOTAL)), TOTAL);
  }

  private int put(ServerProcess server, String path, BodyPublisher body)
      throws IOException, InterruptedException {
    HttpRequest request = request(server, path).PUT(body).build();
    return client.send(request, BodyHandlers.discarding()).statusCode();
  }

  private static HttpRequest.Builder request(ServerProcess server, String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path));
  }

  private void assertGot(ServerProcess server, String path)
      throws IOException, InterruptedException {
    HttpResponse<InputStream> got =
        client.send(request(server, path).build(), BodyHandlers.ofInputStream());
    assertThat(got.statusCode()).isEqualTo(200);
    try (InputStream found = got.body();
        InputStream expected = new CountedBytes(TOTAL)) {
      byte[] piece = found.readNBytes(CountedBytes.PERIOD);
      while (piece.length > 0) {
        assertThat(piece).isEqualTo(expected.readNBytes(piece.length));
        piece = found.readNBytes(CountedBytes.PERIOD);
      }
      assertThat(expected.read()).isNegative();
    }
  }

  /**
   * Bytes of any number, always the same: random ones that are repeated, each time behind the
   * number of the time.
   */
  private static final class CountedBytes extends InputStream {
    /** Long enough not to be compressed away, and no multiple of a chunk. */
    static final int PERIOD = 65_521;

    private final byte[] period = new byte[PERIOD];
    private final long end;
    private long next;

    CountedBytes(long length) {
      new Random(1).nextBytes(period);
      this.end = length;
      number();
    }

    private void number() {
      ByteBuffer.wrap(period).putLong(next / PERIOD);
    }

    @Override
    public int read() {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int most) {
      if (next == end) {
        return -1;
      }
      int at = (int) (next % PERIOD);
      int count = (int) Math.min(Math.min(most, PERIOD - at), end - next);
      System.arraycopy(period, at, into, offset, count);
      next += count;
      number();
      return count;
    }
  }
}
