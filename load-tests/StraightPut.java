import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * Measures the highest rate that one connection's durable PUT can reach over Vert.x and RocksDB: 25
 * keys are written and synced on a worker, with nothing read, parsed or checked. {@code java -cp
 * target/lectus.jar load-tests/StraightPut.java PORT FOLDER}
 */
public final class StraightPut {
  private static final int KEYS_PER_DOCUMENT = 25;

  private final Vertx vertx = Vertx.vertx();
  private final RocksDB db;
  private final WriteOptions synced = new WriteOptions().setSync(true);

  private StraightPut(RocksDB db) {
    this.db = db;
  }

  public static void main(String[] args) throws Exception {
    RocksDB.loadLibrary();
    Path folder = Files.createTempDirectory(Path.of(args[1]), "straight-put");
    StraightPut server =
        new StraightPut(RocksDB.open(new Options().setCreateIfMissing(true), folder.toString()));
    server
        .vertx
        .createHttpServer()
        .requestHandler(server::answer)
        .listen(Integer.parseInt(args[0]), "127.0.0.1");
  }

  private void answer(HttpServerRequest request) {
    request
        .body()
        .compose(body -> vertx.executeBlocking(() -> write(request.path(), body), false))
        .onSuccess(done -> request.response().setStatusCode(201).end("{\"ok\":true}\n"))
        .onFailure(failure -> request.response().setStatusCode(500).end(failure + "\n"));
  }

  private Void write(String path, Buffer body) throws RocksDBException {
    try (WriteBatch batch = new WriteBatch()) {
      for (int i = 0; i < KEYS_PER_DOCUMENT; i++) {
        String key = String.format("prefix-%s-rev-0123456789abcdef-%02d", path, i);
        batch.put(
            key.getBytes(StandardCharsets.UTF_8), body.getBytes(0, Math.min(12, body.length())));
      }
      db.write(synced, batch);
    }
    return null;
  }
}
