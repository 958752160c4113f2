import io.vertx.core.AbstractVerticle;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.file.OpenOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import java.nio.file.Path;

/**
 * A minimal Vert.x server that keeps bodies as files: PUT writes one as it arrives, without syncing
 * it, and GET sends it. Comparing with it shows the cost of a store and a protocol. Run with {@code
 * java -cp target/lectus.jar load-tests/BareUploads.java PORT FOLDER}.
 */
public final class BareUploads extends AbstractVerticle {
  private final int port;
  private final Path folder;

  BareUploads(int port, Path folder) {
    this.port = port;
    this.folder = folder;
  }

  public static void main(String[] args) {
    int port = Integer.parseInt(args[0]);
    Path folder = Path.of(args[1]);
    Vertx.vertx()
        .deployVerticle(
            () -> new BareUploads(port, folder),
            new DeploymentOptions().setInstances(Runtime.getRuntime().availableProcessors()));
  }

  @Override
  public void start() {
    vertx.createHttpServer().requestHandler(this::answer).listen(port, "127.0.0.1");
  }

  private void answer(HttpServerRequest request) {
    String file = folder.resolve(request.path().replace('/', '_')).toString();
    if (request.method().equals(HttpMethod.PUT)) {
      receive(request, file);
    } else if (request.path().equals("/_up")) {
      request.response().end("{\"status\":\"ok\"}\n");
    } else {
      request.response().sendFile(file);
    }
  }

  private void receive(HttpServerRequest request, String file) {
    request.pause();
    vertx
        .fileSystem()
        .open(file, new OpenOptions().setCreate(true).setTruncateExisting(true))
        .compose(request::pipeTo)
        .onSuccess(done -> request.response().setStatusCode(201).end("{\"ok\":true}\n"))
        .onFailure(failure -> request.response().setStatusCode(500).end(failure + "\n"));
  }
}
