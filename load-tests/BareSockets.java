import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.ServerWebSocket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A minimal Vert.x server for listeners: everything written goes to every WebSocket. Run with
 * {@code java -cp target/lectus.jar load-tests/BareSockets.java PORT}; {@code FeedLoad} measures it
 * as it measures Lectus.
 */
public final class BareSockets {
  private final Queue<ServerWebSocket> sockets = new ConcurrentLinkedQueue<>();

  public static void main(String[] args) {
    BareSockets bare = new BareSockets();
    Vertx vertx = Vertx.vertx();
    for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
      vertx.deployVerticle(
          context ->
              context
                  .owner()
                  .createHttpServer()
                  .webSocketHandler(bare.sockets::add)
                  .requestHandler(bare::answer)
                  .listen(Integer.parseInt(args[0]), "127.0.0.1"));
    }
  }

  private void answer(HttpServerRequest request) {
    request.endHandler(end -> request.response().setStatusCode(201).end("{\"ok\":true}\n"));
    String[] path = request.path().split("/");
    if (path.length > 2) {
      String row =
          "{\"seq\":\"14000006554ad1e3b200000000\",\"id\":\""
              + path[2]
              + "\",\"changes\":[{\"rev\":\"1-967a00dff5e02add41819138abb3284d\"}]}";
      sockets.forEach(socket -> socket.writeTextMessage(row));
    }
  }
}
