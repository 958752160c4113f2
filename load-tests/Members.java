import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.http.testing.TestSettings;
import lectus.server.Node;
import lectus.server.NodeSettings;
import lectus.server.NodeSettings.ClusterSettings;
import lectus.store.EmbeddedStores;
import lectus.store.Store;

/**
 * Members of a cluster that share one embedded store, in one process. They poll only once an hour,
 * so that the event bus alone wakes a listener on one when another writes. Prints their ports. Run
 * with {@code java -cp target/lectus.jar:target/test-classes load-tests/Members.java FOLDER COUNT}.
 */
public final class Members {
  private static final Duration HOUR = Duration.ofHours(1);

  private Members() {}

  public static void main(String[] args) {
    Store store = EmbeddedStores.open(Path.of(args[0]));
    NodeSettings settings =
        new TestSettings()
            .polls(new PollSettings(HOUR, HOUR))
            .cluster(new ClusterSettings(Optional.empty(), 0))
            .toNode();
    for (int i = 0; i < Integer.parseInt(args[1]); i++) {
      System.out.println("member " + Node.start(settings, store).port());
    }
    System.out.println("ready");
  }
}
