package lectus.cli;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import lectus.server.Node;
import lectus.server.NodeSettings;
import lectus.server.cluster.StartException;
import lectus.store.Store;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A server that, when it is told to restart, stops in order and lives once more. */
final class ServerLives {
  private static final Logger LOG = LoggerFactory.getLogger(ServerLives.class);

  private final StoreOpening store;
  private final UnaryOperator<Store> securing;
  private final Consumer<Node> listening;
  private final CompletableFuture<Void> told;

  /** Why a life ended. */
  enum Ending {
    /** The process is to end. */
    TOLD,
    STORE_BROKE,
    RESTART
  }

  /**
   * @param securing is done to the store before each life
   * @param listening is told in each life when it has begun
   * @param told completes when the process is to end
   */
  ServerLives(
      StoreOpening store,
      UnaryOperator<Store> securing,
      Consumer<Node> listening,
      CompletableFuture<Void> told) {
    this.store = store;
    this.securing = securing;
    this.listening = listening;
    this.told = told;
  }

  /** Returns when no life follows. */
  Ending run(NodeSettings settings) {
    Life life = live(settings);
    while (life.ending() == Ending.RESTART) {
      LOG.info("The server restarts");
      store.openAnew();
      // Its clients look for it where it was, even if any port would have done at first.
      life = live(settings.at(life.port()));
    }
    return life.ending();
  }

  private record Life(Ending ending, int port) {}

  private Life live(NodeSettings settings) {
    Ending ending = Ending.TOLD;
    int port = settings.port();
    try (Node node = Node.start(settings, () -> securing.apply(store.await()))) {
      port = node.port();
      listening.accept(node);
      ending = end(node);
    } catch (StartException unclean) {
      // Of a store that cannot go on, nothing else is to be expected.
      if (ending != Ending.STORE_BROKE) {
        throw unclean;
      }
    }
    return new Life(ending, port);
  }

  private Ending end(Node node) {
    CompletableFuture<String> broken = store.await().broken();
    CompletableFuture.anyOf(told, broken, node.restartWanted()).join();
    if (broken.isDone()) {
      return Ending.STORE_BROKE;
    }
    return told.isDone() ? Ending.TOLD : Ending.RESTART;
  }
}
