package lectus.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.BlockTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.TreeScanner;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A method fits on a page, and a file is read in one go. Neither length is a goal. */
class SizesTest {
  /** Lines between the braces of a method. */
  private static final int LONGEST_METHOD = 70;

  /** Lines of a file. */
  private static final int LONGEST_CLASS = 1_000;

  @Test
  void methods_are_short() {
    List<String> found = new ArrayList<>();
    for (Source source : Sources.MAIN) {
      new TreeScanner<Void, Void>() {
        @Override
        public Void visitMethod(MethodTree method, Void nothing) {
          long lines = linesWithin(source, method.getBody());
          if (lines > LONGEST_METHOD) {
            found.add(source.at(method) + " " + method.getName() + " has " + lines + " lines");
          }
          return super.visitMethod(method, nothing);
        }
      }.scan(source.unit(), null);
    }
    assertThat(found).isEmpty();
  }

  @Test
  void classes_are_short() {
    assertThat(Sources.MAIN).filteredOn(source -> linesOf(source) > LONGEST_CLASS).isEmpty();
  }

  private static long linesWithin(Source source, BlockTree body) {
    return body == null ? 0 : source.lastLine(body) - source.firstLine(body) - 1;
  }

  private static long linesOf(Source source) {
    CompilationUnitTree unit = source.unit();
    LineMap lines = unit.getLineMap();
    return lines.getLineNumber(source.positions().getEndPosition(unit, unit));
  }
}
