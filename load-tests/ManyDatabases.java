import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measures a subscription to {@code user-*} over many databases: how soon its first row comes when
 * a few of them moved after its token, and the rows a second from the beginning, compared with one
 * database of as many documents.
 *
 * <pre>
 * java load-tests/ManyDatabases.java fill PORT DATABASES DOCUMENTS_EACH [FIRST]
 * java load-tests/ManyDatabases.java read PORT DATABASES [ROUNDS]
 * java load-tests/ManyDatabases.java idle PORT SUBSCRIPTIONS SECONDS
 * </pre>
 *
 * {@code fill} makes {@code user-0…} and {@code one}; with {@code FIRST} it continues an earlier
 * run at that number. {@code read} may be repeated. {@code idle} counts the transactions that read
 * while subscriptions to databases that do not exist wait beside one that is written all the time.
 */
public final class ManyDatabases {
  private static final int WRITERS = 16;
  private static final int MOVED = 50;
  private static final int BULK = 1_000;
  private static final Pattern TYPE = Pattern.compile("\"type\":\"([a-z_]*)\"");
  private static final Pattern AT = Pattern.compile("\"at\":\"([0-9a-f]*)\"");

  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  private ManyDatabases() {}

  public static void main(String[] args) throws Exception {
    String base = "127.0.0.1:" + args[1];
    int databases = Integer.parseInt(args[2]);
    if (args[0].equals("fill")) {
      fill(
          base,
          args.length > 4 ? Integer.parseInt(args[4]) : 0,
          databases,
          Integer.parseInt(args[3]));
    } else if (args[0].equals("idle")) {
      idle(base, databases, Integer.parseInt(args[3]));
    } else {
      int rounds = args.length > 3 ? Integer.parseInt(args[3]) : 5;
      for (int i = 0; i < rounds; i++) {
        read(base, databases);
      }
    }
    System.exit(0);
  }

  private static void fill(String base, int first, int databases, int documents)
      throws Exception {
    long start = System.nanoTime();
    ExecutorService pool = Executors.newFixedThreadPool(WRITERS);
    List<Future<?>> filling = new ArrayList<>();
    for (int i = first; i < databases; i++) {
      String name = "user-" + i;
      filling.add(
          pool.submit(
              () -> {
                send(base, "PUT", name, "");
                return send(base, "POST", name + "/_bulk_docs", documents(0, documents));
              }));
    }
    for (Future<?> one : filling) {
      one.get();
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    int made = databases - first;
    System.out.printf("%d databases, %.0f a second%n", made, made / seconds);
    if (first == 0) {
      send(base, "PUT", "one", "");
    }
    int all = databases * documents;
    for (int from = first * documents; from < all; from += BULK) {
      send(base, "POST", "one/_bulk_docs", documents(from, Math.min(all, from + BULK)));
    }
  }

  private static String documents(int from, int to) {
    StringBuilder docs = new StringBuilder("{\"docs\":[");
    for (int i = from; i < to; i++) {
      docs.append(i == from ? "" : ",").append("{\"_id\":\"doc-").append(i).append("\"}");
    }
    return docs.append("]}").toString();
  }

  private static int send(String base, String method, String path, String json) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://" + base + "/" + path))
            .header("Content-Type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(json))
            .build();
    int status = CLIENT.send(request, BodyHandlers.discarding()).statusCode();
    if (status / 100 != 2) {
      throw new IllegalStateException(method + " " + path + ": " + status);
    }
    return status;
  }

  private static void read(String base, int databases) throws Exception {
    Subscription one = Subscription.run(base, "one", "0");
    Subscription many = Subscription.run(base, "user-*", "0");
    Random random = new Random();
    for (int i = 0; i < MOVED; i++) {
      String name = "user-" + random.nextInt(databases);
      send(base, "POST", name, "{\"_id\":\"moved-" + System.nanoTime() + "\"}");
    }
    Subscription moved = Subscription.run(base, "user-*", many.at);
    System.out.printf(
        "one: %d rows, %.0f a second; user-* from 0: %d rows, %.0f a second (%.0f %%), the first"
            + " after %.0f ms; behind a token: %d rows, the first after %.1f ms%n",
        one.rows,
        one.perSecond(),
        many.rows,
        many.perSecond(),
        100 * many.perSecond() / one.perSecond(),
        many.firstNanos / 1e6,
        moved.rows,
        moved.firstNanos / 1e6);
  }

  private static void idle(String base, int subscriptions, int seconds) throws Exception {
    send(base, "PUT", "busy", "");
    Counting waiting = new Counting(subscriptions);
    WebSocket socket =
        CLIENT
            .newWebSocketBuilder()
            .subprotocols("lectus.changes.v1")
            .buildAsync(URI.create("ws://" + base + "/_changes"), waiting)
            .get();
    for (int i = 0; i < subscriptions; i++) {
      String wanted = "\"idle-" + i + (i % 2 == 0 ? "-*\"" : "\"");
      socket
          .sendText(
              "{\"type\":\"subscribe\",\"id\":\"" + i + "\",\"db\":[" + wanted + "]}", true)
          .get();
    }
    waiting.caughtUp.get(60, TimeUnit.SECONDS);
    Thread.sleep(2_000);
    long atRest = readingTransactions(base);
    Thread.sleep(1_000L * seconds);
    long busy = readingTransactions(base);
    long end = System.nanoTime() + 1_000_000_000L * seconds;
    ExecutorService pool = Executors.newFixedThreadPool(WRITERS);
    List<Future<Integer>> writing = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      writing.add(
          pool.submit(
              () -> {
                int written = 0;
                for (; System.nanoTime() < end; written++) {
                  send(base, "POST", "busy", "{}");
                }
                return written;
              }));
    }
    int written = 0;
    for (Future<Integer> one : writing) {
      written += one.get();
    }
    System.out.printf(
        "%d idle subscriptions, %d s: %d transactions that read; beside %d writes to one database:"
            + " %d%n",
        subscriptions, seconds, busy - atRest, written, readingTransactions(base) - busy);
    socket.abort();
  }

  private static long readingTransactions(String base) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://" + base + "/_node/_local/_prometheus")).build();
    String text = CLIENT.send(request, BodyHandlers.ofString()).body();
    return figure(text, "lectus_transactions") - figure(text, "lectus_commit_seconds_count");
  }

  private static long figure(String text, String name) {
    Matcher figure =
        Pattern.compile("(?m)^" + name + "(?:_total)? ([0-9.e+]+)$").matcher(text);
    if (!figure.find()) {
      throw new IllegalStateException("No figure " + name);
    }
    return (long) Double.parseDouble(figure.group(1));
  }

  /** Counts subscriptions that have caught up. */
  private static final class Counting implements WebSocket.Listener {
    private final CompletableFuture<Void> caughtUp = new CompletableFuture<>();
    private final StringBuilder message = new StringBuilder();
    private int left;

    Counting(int subscriptions) {
      this.left = subscriptions;
    }

    @Override
    public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
      message.append(data);
      if (last) {
        if (message.indexOf("\"caught_up\"") >= 0 && --left == 0) {
          caughtUp.complete(null);
        }
        message.setLength(0);
      }
      socket.request(1);
      return null;
    }
  }

  /** One subscription, from its beginning until it has caught up. */
  private static final class Subscription implements WebSocket.Listener {
    private final CompletableFuture<Void> caughtUp = new CompletableFuture<>();
    private final StringBuilder message = new StringBuilder();
    private long startNanos;
    private long firstNanos;
    private long tookNanos;
    private int rows;
    private String at;

    static Subscription run(String base, String databases, String since) throws Exception {
      Subscription subscription = new Subscription();
      WebSocket socket =
          CLIENT
              .newWebSocketBuilder()
              .subprotocols("lectus.changes.v1")
              .buildAsync(URI.create("ws://" + base + "/_changes"), subscription)
              .get();
      subscription.startNanos = System.nanoTime();
      socket.sendText(
          "{\"type\":\"subscribe\",\"id\":\"a\",\"db\":\""
              + databases
              + "\",\"since\":\""
              + since
              + "\"}",
          true);
      subscription.caughtUp.get();
      socket.abort();
      return subscription;
    }

    double perSecond() {
      return rows / (tookNanos / 1e9);
    }

    @Override
    public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
      message.append(data);
      if (last) {
        take(message);
        message.setLength(0);
      }
      socket.request(1);
      return null;
    }

    private void take(CharSequence text) {
      Matcher type = TYPE.matcher(text);
      if (!type.find()) {
        throw new IllegalStateException(text.toString());
      }
      long now = System.nanoTime() - startNanos;
      switch (type.group(1)) {
        case "row" -> {
          firstNanos = rows++ == 0 ? now : firstNanos;
        }
        case "caught_up" -> {
          Matcher point = AT.matcher(text);
          point.find();
          at = point.group(1);
          tookNanos = now;
          caughtUp.complete(null);
        }
        default -> caughtUp.completeExceptionally(new IllegalStateException(text.toString()));
      }
    }
  }
}
