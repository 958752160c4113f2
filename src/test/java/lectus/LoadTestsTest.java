package lectus;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The programs of {@code load-tests} run from source, so they are compiled here only. */
final class LoadTestsTest {
  @TempDir Path classes;

  @Test
  void they_compile() throws IOException {
    List<Path> programs = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("load-tests"), "*.java")) {
      files.forEach(programs::add);
    }
    StringWriter complaints = new StringWriter();
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager manager =
        compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
      List<String> options =
          List.of(
              "-proc:none",
              "-classpath",
              System.getProperty("java.class.path"),
              "-d",
              classes.toString());
      boolean compiled =
          compiler
              .getTask(
                  complaints,
                  manager,
                  null,
                  options,
                  null,
                  manager.getJavaFileObjectsFromPaths(programs))
              .call();
      assertThat(compiled).as(complaints.toString()).isTrue();
    }
    assertThat(programs).isNotEmpty();
    assertThat(classes.resolve("FeedLoad.class")).exists();
  }
}
