package lectus.relocation;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import lectus.image.ImageFrame.Reached;
import lectus.image.ImageParser;

/** Passes requests on to a server: or not, or twice, or later; and answers, or not. */
final class UnreliableRelay implements AutoCloseable {
  private static final int MOST_LATE = 20;
  private static final int MOST_LOOKS = 4;
  private static final int MOST_DECISIONS = 4;
  private static final int PART_BYTES = 4 << 10;
  private static final int SMALL_BYTES = 20_000;
  private static final int LARGE_BYTES = 2_000_000;

  private final int port;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final List<Message> late = new ArrayList<>();
  private Random random = new Random(0);
  private Random decisions = new Random(0);

  /** How many messages of either kind may have another fate yet. */
  private int looksLeft;

  private int decisionsLeft;
  private boolean isGood;
  private volatile long cutOnceBehind = Long.MAX_VALUE;
  private volatile BooleanSupplier cutOnceWhen = () -> false;
  private final List<Long> streams = new CopyOnWriteArrayList<>();

  private record Message(String method, URI url, byte[] body) {}

  private enum Fate {
    PASSED,
    LOST,
    ANSWER_LOST,
    DOUBLED,
    LATE,
    LOST_AND_LATE
  }

  UnreliableRelay(int port) throws IOException {
    this.port = port;
    this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::pass);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  synchronized void misbehave(Random its) {
    random = new Random(its.nextLong());
    decisions = new Random(its.nextLong());
    looksLeft = its.nextInt(MOST_LOOKS);
    decisionsLeft = MOST_DECISIONS;
    isGood = false;
  }

  synchronized void behave(Random its) {
    random = new Random(its.nextLong());
    isGood = true;
    decisionsLeft = 0;
  }

  /** Lets copies come to their end. */
  synchronized void passCopies() {
    isGood = true;
  }

  /** Cuts the next stream when all of so many bytes is stored that another can do without. */
  void cutOnceBehind(long bytes) {
    streams.clear();
    cutOnceBehind = bytes;
  }

  /** Cuts the next stream at the first part that comes while something is so. */
  void cutOnceWhen(BooleanSupplier isSo) {
    streams.clear();
    cutOnceWhen = isSo;
  }

  /** Returns how many bytes of each stream were passed on. */
  List<Long> streams() {
    return List.copyOf(streams);
  }

  /** There are few messages in which the two places agree on what is decided. */
  private synchronized Fate fate(Message message) {
    if (message.method().equals("GET")) {
      Fate fate = looksLeft == 0 ? Fate.PASSED : fate();
      looksLeft -= fate == Fate.PASSED ? 0 : 1;
      return fate;
    }
    int at = decisionsLeft == 0 ? 0 : decisions.nextInt(2 * Fate.values().length);
    Fate fate = at < Fate.values().length ? Fate.values()[at] : Fate.PASSED;
    decisionsLeft -= fate == Fate.PASSED ? 0 : 1;
    return fate;
  }

  private synchronized Fate fate() {
    if (isGood) {
      return Fate.PASSED;
    }
    int at = random.nextInt(30);
    return at < Fate.values().length ? Fate.values()[at] : Fate.PASSED;
  }

  private synchronized long cutBehind() {
    int most = random.nextInt(4) == 0 ? LARGE_BYTES : SMALL_BYTES;
    return !isGood && random.nextInt(4) == 0 ? random.nextInt(most) : Long.MAX_VALUE;
  }

  private void pass(HttpExchange exchange) throws IOException {
    try (exchange) {
      URI url = URI.create("http://127.0.0.1:" + port + exchange.getRequestURI());
      if (exchange.getRequestMethod().equals("POST")
          && exchange.getRequestURI().getPath().contains("arrivals")) {
        stream(exchange, url);
        return;
      }
      Message message =
          new Message(exchange.getRequestMethod(), url, exchange.getRequestBody().readAllBytes());
      Fate fate = fate(message);
      if (fate == Fate.LATE || fate == Fate.LOST_AND_LATE) {
        keep(message);
      }
      if (fate == Fate.LOST || fate == Fate.LOST_AND_LATE) {
        return;
      }
      HttpResponse<byte[]> answer = send(message);
      if (fate == Fate.DOUBLED) {
        answer = send(message);
      }
      if (fate != Fate.ANSWER_LOST) {
        answer(exchange, answer.statusCode(), answer.body());
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void keep(Message message) {
    if (late.size() < MOST_LATE) {
      late.add(message);
    }
  }

  /** Passes on what is late. */
  void deliverLate() {
    List<Message> all;
    synchronized (this) {
      all = List.copyOf(late);
      late.clear();
    }
    for (Message message : all) {
      try {
        send(message);
      } catch (IOException lost) {
        continue;
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private HttpResponse<byte[]> send(Message message) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(message.url())
            .header("Content-Type", "application/json")
            .method(message.method(), BodyPublishers.ofByteArray(message.body()))
            .build();
    return client.send(request, BodyHandlers.ofByteArray());
  }

  /** Each part goes on at once, which Java's newer client does not promise. */
  private void stream(HttpExchange exchange, URI url) throws IOException, InterruptedException {
    Fate fate = fate();
    long left = cutBehind();
    AtomicReference<byte[]> mark = new AtomicReference<>(new byte[0]);
    ImageParser parser =
        new ImageParser(
            frame -> {
              if (frame instanceof Reached reached) {
                mark.set(reached.place());
              }
            });
    long passed = 0;
    HttpURLConnection to = (HttpURLConnection) url.toURL().openConnection();
    try {
      to.setRequestMethod("POST");
      to.setRequestProperty("Content-Type", "application/octet-stream");
      to.setDoOutput(true);
      to.setChunkedStreamingMode(PART_BYTES);
      try (OutputStream out = to.getOutputStream()) {
        byte[] part = new byte[PART_BYTES];
        InputStream in = exchange.getRequestBody();
        for (int read = in.read(part); read >= 0; read = in.read(part)) {
          left -= read;
          if (left < 0) {
            if (left % 2 == 0) {
              // Otherwise what is there looks whole.
              to.disconnect();
            }
            return;
          }
          if (cutOnceWhen.getAsBoolean()) {
            cutOnceWhen = () -> false;
            to.disconnect();
            return;
          }
          out.write(part, 0, read);
          out.flush();
          passed += read;
          parser.take(part, 0, read);
          if (passed > cutOnceBehind) {
            cutOnceBehind = Long.MAX_VALUE;
            awaitStored(URI.create(url.toString().replaceFirst("\\?.*", "")), mark.get());
            return;
          }
        }
      }
      int status = to.getResponseCode();
      InputStream told = status / 100 == 2 ? to.getInputStream() : to.getErrorStream();
      byte[] body = told.readAllBytes();
      if (fate != Fate.ANSWER_LOST) {
        answer(exchange, status, body);
      }
    } finally {
      streams.add(passed);
      to.disconnect();
    }
  }

  private void awaitStored(URI attempt, byte[] mark) throws IOException, InterruptedException {
    String reached = Base64.getEncoder().encodeToString(mark);
    Message message = new Message("GET", attempt, new byte[0]);
    while (!new String(send(message).body(), StandardCharsets.UTF_8).contains(reached)) {
      Thread.sleep(5);
    }
  }

  private static void answer(HttpExchange exchange, int status, byte[] body) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
    if (body.length > 0) {
      new ByteArrayInputStream(body).transferTo(exchange.getResponseBody());
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
