package lectus.abuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import lectus.http.testing.Connection;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An attachment that is longer than the heap goes in and out. */
class LongAttachmentsTest {
  private static final int HEAP_MEGABYTES = 96;
  private static final long LENGTH = 120L << 20;
  private static final int PIECE = 1 << 16;
  private static final int SLOW_READERS = 200;

  private final HttpClient client = HttpClient.newHttpClient();

  @BeforeAll
  static void onlyEmbedded() {
    TestStores.onlyEmbedded();
    assumeTrue(ServerProcess.canBeWatched(), "This system has no /proc");
  }

  /** The same bytes each time, which nobody holds. */
  private static final class Made extends InputStream {
    private final Random random = new Random(7);
    private final byte[] piece = new byte[PIECE];
    private long left = LENGTH;
    private int at = PIECE;

    @Override
    public int read() {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int count) {
      if (left == 0) {
        return -1;
      }
      if (at == PIECE) {
        random.nextBytes(piece);
        at = 0;
      }
      int taken = (int) Math.min(left, Math.min(count, PIECE - at));
      System.arraycopy(piece, at, into, offset, taken);
      at += taken;
      left -= taken;
      return taken;
    }
  }

  private HttpRequest.Builder to(ServerProcess server, String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path));
  }

  @Test
  void it_is_stored_and_read_in_a_smaller_heap(@TempDir Path folder) throws Exception {
    try (ServerProcess server = ServerProcess.start(folder, HEAP_MEGABYTES)) {
      client.send(to(server, "/w").PUT(BodyPublishers.noBody()).build(), BodyHandlers.discarding());
      HttpResponse<String> put =
          client.send(
              to(server, "/w/a/f").PUT(BodyPublishers.ofInputStream(Made::new)).build(),
              BodyHandlers.ofString(StandardCharsets.UTF_8));
      assertThat(put.statusCode()).as(put.body()).isEqualTo(201);

      HttpResponse<InputStream> got =
          client.send(to(server, "/w/a/f").build(), BodyHandlers.ofInputStream());
      assertThat(got.headers().firstValueAsLong("content-length")).hasValue(LENGTH);
      assertThat(got.body()).hasSameContentAs(new Made());
      HttpResponse<InputStream> inline =
          client.send(
              to(server, "/w/a?attachments=true").header("Accept", "application/json").build(),
              BodyHandlers.ofInputStream());
      assertThat(inline.body().transferTo(OutputStream.nullOutputStream()))
          .isGreaterThan(LENGTH / 3 * 4);
      readBesideSlowReaders(server);
    }
  }

  /** They are in the middle of the attachment, or are refused if others hold too much. */
  private void readBesideSlowReaders(ServerProcess server) throws Exception {
    List<Connection> slow = new ArrayList<>();
    try {
      for (int i = 0; i < SLOW_READERS; i++) {
        String list = i % 2 == 0 ? "_all_docs?" : "_changes?feed=continuous&";
        Connection reader = new Connection(server.port(), PIECE);
        reader.write(
            "GET /w/"
                + list
                + "include_docs=true&attachments=true HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
        slow.add(reader);
      }
      int begun = 0;
      for (Connection reader : slow) {
        int status = reader.readHead().status();
        assertThat(status).isIn(200, 503);
        begun += status == 200 ? 1 : 0;
      }
      assertThat(begun).isPositive();
      HttpResponse<String> rows =
          client.send(
              to(server, "/w/_all_docs?limit=1").build(),
              BodyHandlers.ofString(StandardCharsets.UTF_8));
      assertThat(rows.body()).contains("\"id\":\"a\"");
    } finally {
      slow.forEach(Connection::abort);
    }
  }
}
