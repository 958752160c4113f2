package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import lectus.http.testing.LectusServer;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The model of live feeds finds bugs that there were: each is put back into the source of its
 * class, and the model runs with that class in place of the right one.
 */
final class LiveFeedsPlantedBugsTest {
  private static final int MAX_SEEDS = 50;

  @TempDir private Path folder;

  /** What the source said when it had the bug. */
  private enum Bug {
    /** Where a document left is told only as long as its entry is there: the next edit moves it. */
    DEPARTURE_OF_LAST_ENTRY(
        "changes/page/EntryReader",
        """
              boolean isAlone = merged.putIfAbsent(left.sequence(), left) == null;
              departures.add(left.sequence(), feed, isAlone);
        """,
        """
              if (merged.containsKey(left.sequence())) {
                departures.add(left.sequence(), feed, false);
              }
        """,
        1),
    /** After a grant a database is read from where the page begins, not from what was passed. */
    ORDER_AFTER_GRANT(
        "changes/notify/OpenDatabases",
        "return before.compareTo(position.at()) > 0 ? before : position.at();",
        "return position.at();",
        6),
    /** Nothing tells who could read a database that is deleted. */
    FORMER_READERS(
        "changes/notify/ManyDatabases",
        "log.end(tx, name, end.at()).map(rights::formerReaders)",
        "Optional.<SecurityObject>empty()",
        3),
    /** A sequence of an earlier life of a database is taken for one of this life. */
    EARLIER_LIFE("changes/page/ChangesReader", "since).inLife(life);", "since);", 11),
    /** A subscription that ends before it has begun tells to resume at "now". */
    NOW_AS_POSITION("http/changes/Subscription", "if (opened) {", "if (true) {", 2),
    /** A stored feed that was removed and defined again is taken for a continuation. */
    REMOVED_FEED(
        "changes/page/FeedPosition",
        "sequence.isPresent() && isBehind(Awaiting.await(feed.removedAt(tx, db)))",
        "false",
        1);

    private final String type;
    private final String right;
    private final String wrong;

    /** The first that found it, which is tried first. */
    private final long seed;

    Bug(String type, String right, String wrong, long seed) {
      this.type = "lectus/" + type;
      this.right = right;
      this.wrong = wrong;
      this.seed = seed;
    }

    /** Compiles the class as it was into a folder. */
    void compile(Path folder) throws IOException {
      String source = Files.readString(Path.of("src/main/java", type + ".java"));
      assertThat(source.split(Pattern.quote(right), -1)).as("sources of %s", type).hasSize(2);
      Path file = folder.resolve(type + ".java");
      Files.createDirectories(file.getParent());
      Files.writeString(file, source.replace(right, wrong));
      JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
      try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
        List<String> options = List.of("-d", folder.toString(), "-proc:none", "-nowarn");
        assertThat(
                compiler
                    .getTask(null, files, null, options, null, files.getJavaFileObjects(file))
                    .call())
            .isTrue();
      }
    }
  }

  /** Loads all of the project's classes again, those of a folder in place of their namesakes. */
  private static final class Planted extends URLClassLoader {
    Planted(Path folder) throws IOException {
      super(
          new URL[] {
            folder.toUri().toURL(), place(LectusServer.class), place(EmbeddedStores.class)
          },
          Planted.class.getClassLoader());
    }

    private static URL place(Class<?> type) {
      return type.getProtectionDomain().getCodeSource().getLocation();
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      synchronized (getClassLoadingLock(name)) {
        if (!name.startsWith("lectus.")) {
          return super.loadClass(name, resolve);
        }
        Class<?> loaded = findLoadedClass(name);
        return loaded == null ? findClass(name) : loaded;
      }
    }
  }

  /** Runs the model on a store in a folder until it finds something. */
  public static final class Search implements BiFunction<Path, Long, Optional<AssertionError>> {
    @Override
    public Optional<AssertionError> apply(Path folder, Long first) {
      try (Store store = EmbeddedStores.open(folder)) {
        FeedHistory history = new FeedHistory(store);
        try (LectusServer server = LiveFeedsModel.start(history.store())) {
          for (long seed = first; seed < first + MAX_SEEDS; seed++) {
            try (LiveFeedsModel model = new LiveFeedsModel(server, history, seed)) {
              model.run();
            } catch (AssertionError found) {
              return Optional.of(found);
            }
          }
        }
      }
      return Optional.empty();
    }
  }

  @ParameterizedTest
  @EnumSource(Bug.class)
  void a_planted_bug_is_found(Bug bug) throws Exception {
    Path classes = Files.createDirectory(folder.resolve("classes"));
    bug.compile(classes);
    try (Planted planted = new Planted(classes)) {
      Object search =
          planted.loadClass(Search.class.getName()).getDeclaredConstructor().newInstance();
      @SuppressWarnings("unchecked")
      BiFunction<Path, Long, Optional<AssertionError>> found =
          (BiFunction<Path, Long, Optional<AssertionError>>) search;
      assertThat(found.apply(folder.resolve("store"), bug.seed))
          .as("what %s seeds find", MAX_SEEDS)
          .isPresent();
    }
  }
}
