package lectus.clients;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import lectus.abuse.ServerProcess;
import lectus.audit.testing.SoundStore;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * PouchDB syncs both ways while the server is killed and started again; the client says when, by
 * the progress it sees. {@code lectus.test.sync-kills} makes it longer.
 */
final class KilledSyncTest {
  private static final int KILLS = Integer.getInteger("lectus.test.sync-kills", 2);
  private static final int HEAP_MEGABYTES = 128;

  @BeforeAll
  static void onlyEmbedded() {
    TestStores.onlyEmbedded();
    assumeTrue(ServerProcess.canBeWatched(), "This system has no /proc");
  }

  @Test
  void nothing_is_lost_or_torn_while_pouchdb_syncs(@TempDir Path folder) throws Exception {
    NodeClients clients = NodeClients.install();
    Path port = folder.resolve("port").toAbsolutePath();
    ServerProcess server = listening(folder, port);
    try {
      CompletableFuture<NodeClients.Outcome> sync = start(clients, port);
      for (int kill = 0; kill < KILLS; kill++) {
        Await.until("the client wants a kill", () -> sync.isDone() || Files.notExists(port));
        server.close();
        server = listening(folder, port);
      }
      sync.join().assertPassed(1);
    } finally {
      server.close();
    }
    try (Store store = EmbeddedStores.open(ServerProcess.data(folder))) {
      SoundStore.assertSound(store);
    }
  }

  private static CompletableFuture<NodeClients.Outcome> start(NodeClients clients, Path port) {
    Map<String, String> environment =
        Map.of("LECTUS_PORT_FILE", port.toString(), "LECTUS_KILLS", Integer.toString(KILLS));
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return clients.test("killed.test.mjs", environment);
          } catch (IOException | InterruptedException e) {
            throw new CompletionException(e);
          }
        });
  }

  /** Starts a server and says where it is, as soon as it can be asked. */
  private static ServerProcess listening(Path folder, Path port) throws IOException {
    ServerProcess server = ServerProcess.start(folder, HEAP_MEGABYTES);
    Path whole = Files.writeString(folder.resolve("port-now"), Integer.toString(server.port()));
    Files.move(whole, port, StandardCopyOption.ATOMIC_MOVE);
    return server;
  }
}
