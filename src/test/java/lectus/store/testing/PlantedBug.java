package lectus.store.testing;

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
import lectus.store.EmbeddedStores;

/**
 * A bug that there was, or could be: it is put into the source of its class, and a search runs with
 * that class in place of the right one.
 *
 * @param type the path of the source below that of the project's packages, without its end
 * @param right what the source says, once
 * @param wrong what it says when it has the bug
 */
public record PlantedBug(String type, String right, String wrong) {
  /**
   * Returns what a search finds.
   *
   * @param search is given a folder for a store, and the seed to begin with
   */
  public Optional<AssertionError> found(
      Class<? extends BiFunction<Path, Long, Optional<AssertionError>>> search,
      Path folder,
      long seed)
      throws Exception {
    Path classes = Files.createDirectory(folder.resolve("classes"));
    compile(classes);
    try (Planted planted = new Planted(classes)) {
      @SuppressWarnings("unchecked")
      BiFunction<Path, Long, Optional<AssertionError>> found =
          (BiFunction<Path, Long, Optional<AssertionError>>)
              planted.loadClass(search.getName()).getDeclaredConstructor().newInstance();
      return found.apply(folder.resolve("store"), seed);
    }
  }

  private void compile(Path folder) throws IOException {
    String source = Files.readString(Path.of("src/main/java/lectus", type + ".java"));
    if (source.split(Pattern.quote(right), -1).length != 2) {
      throw new IllegalStateException(type + " is another one: " + right);
    }
    Path file = folder.resolve(type + ".java");
    Files.createDirectories(file.getParent());
    Files.writeString(file, source.replace(right, wrong));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      List<String> options = List.of("-d", folder.toString(), "-proc:none", "-nowarn");
      boolean isCompiled =
          compiler.getTask(null, files, null, options, null, files.getJavaFileObjects(file)).call();
      if (!isCompiled) {
        throw new IllegalStateException(type + " with the bug cannot be compiled");
      }
    }
  }

  /** Loads all of the project's classes again, those of a folder in place of their namesakes. */
  private static final class Planted extends URLClassLoader {
    Planted(Path folder) throws IOException {
      super(
          new URL[] {folder.toUri().toURL(), place(PlantedBug.class), place(EmbeddedStores.class)},
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
}
