import io.vertx.core.AbstractVerticle;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;

/**
 * A minimal Vert.x server: it reads the request and answers 300 bytes. Comparing with it shows the
 * cost of a store and a protocol. Run with {@code java -cp target/lectus.jar
 * load-tests/HelloServer.java PORT}.
 */
public final class HelloServer extends AbstractVerticle {
  private static final Buffer BODY = Buffer.buffer("{\"hello\":\"" + "x".repeat(287) + "\"}\n");

  private final int port;

  HelloServer(int port) {
    this.port = port;
  }

  public static void main(String[] args) {
    int port = Integer.parseInt(args[0]);
    Vertx vertx = Vertx.vertx();
    int instances = Runtime.getRuntime().availableProcessors();
    vertx
        .deployVerticle(
            () -> new HelloServer(port), new DeploymentOptions().setInstances(instances))
        .onSuccess(id -> System.out.println("ready"));
  }

  @Override
  public void start() {
    vertx
        .createHttpServer()
        .requestHandler(
            request ->
                request.endHandler(
                    end ->
                        request
                            .response()
                            .putHeader("Content-Type", "application/json")
                            .end(BODY)))
        .listen(port, "127.0.0.1");
  }
}
