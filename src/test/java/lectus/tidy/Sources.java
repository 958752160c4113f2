package lectus.tidy;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** The sources of this project as javac parses them; nothing is compiled. */
final class Sources {
  /** What the server consists of. */
  static final List<Source> MAIN = parse(Path.of("src/main/java"));

  static final List<Source> TESTS = parse(Path.of("src/test/java"));

  private Sources() {}

  private static List<Source> parse(Path folder) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<Source> sources = new ArrayList<>();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
        Stream<Path> tree = Files.walk(folder)) {
      List<Path> paths = tree.filter(path -> path.toString().endsWith(".java")).sorted().toList();
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  null,
                  files,
                  null,
                  List.of("-proc:none"),
                  null,
                  files.getJavaFileObjectsFromPaths(paths));
      SourcePositions positions = Trees.instance(task).getSourcePositions();
      for (CompilationUnitTree unit : task.parse()) {
        sources.add(new Source(Path.of(unit.getSourceFile().getName()), unit, positions));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return List.copyOf(sources);
  }
}
