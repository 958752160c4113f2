package lectus.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/** Stands before a server: notes what is asked, and may answer with other texts than the server. */
final class Relay implements AutoCloseable {
  /** Each request as {@code METHOD /target}, in the order in which they came. */
  final List<String> asked = new CopyOnWriteArrayList<>();

  /** What stands in the server's texts, and what its clients see in place of it. */
  final Map<String, String> seen = new LinkedHashMap<>();

  /** Is called with each request before the server gets it. */
  volatile Consumer<String> before = request -> {};

  private final String server;
  private final HttpServer listener;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  Relay(String server) throws IOException {
    this.server = server;
    this.listener =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    listener.createContext("/", this::pass);
    listener.setExecutor(threads);
    listener.start();
  }

  String url() {
    return "http://127.0.0.1:" + listener.getAddress().getPort();
  }

  private void pass(HttpExchange exchange) throws IOException {
    try (exchange) {
      String request = exchange.getRequestMethod() + ' ' + exchange.getRequestURI();
      asked.add(request);
      byte[] body = exchange.getRequestBody().readAllBytes();
      before.accept(request);
      HttpRequest.Builder passed =
          HttpRequest.newBuilder(URI.create(server + inner(exchange.getRequestURI().toString())))
              .method(exchange.getRequestMethod(), BodyPublishers.ofByteArray(inner(body)));
      String type = exchange.getRequestHeaders().getFirst("Content-Type");
      passed.header("Content-Type", type == null ? "application/json" : type);
      HttpResponse<byte[]> answer = client.send(passed.build(), BodyHandlers.ofByteArray());
      answer
          .headers()
          .firstValue("Content-Type")
          .ifPresent(it -> exchange.getResponseHeaders().set("Content-Type", it));
      byte[] told = outer(answer.body());
      boolean isHead = exchange.getRequestMethod().equals("HEAD");
      exchange.sendResponseHeaders(answer.statusCode(), isHead ? -1 : told.length);
      if (!isHead) {
        exchange.getResponseBody().write(told);
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  private String inner(String text) {
    String result = text;
    for (Map.Entry<String, String> each : seen.entrySet()) {
      result = result.replace(each.getValue(), each.getKey());
    }
    return result;
  }

  private byte[] inner(byte[] text) {
    return inner(new String(text, StandardCharsets.ISO_8859_1))
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  private byte[] outer(byte[] text) {
    String result = new String(text, StandardCharsets.ISO_8859_1);
    for (Map.Entry<String, String> each : seen.entrySet()) {
      result = result.replace(each.getKey(), each.getValue());
    }
    return result.getBytes(StandardCharsets.ISO_8859_1);
  }

  @Override
  public void close() {
    listener.stop(0);
    threads.shutdownNow();
  }
}
