package lectus.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.BlockTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.TreeScanner;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Methods and classes are short. */
class SizesTest {
  /** Lines between the braces of a method. */
  private static final int LONGEST_METHOD = 35;

  /** Lines of a file. */
  private static final int LONGEST_CLASS = 320;

  /** One switch that is a table: each error has its status. */
  private static final List<String> TABLES = List.of("ErrorStatus.of");

  /** Classes that are to be cut, and how long each may be until then. */
  private static final Map<String, Integer> TO_BE_CUT =
      Map.of(
          "TextSocket", 340,
          "LoopTail", 340,
          "EmbeddedTransaction", 415,
          "LiveListener", 445,
          "Exchange", 475,
          "Catalogue", 370);

  @Test
  void methods_are_short() {
    List<String> found = new ArrayList<>();
    for (Source source : Sources.MAIN) {
      new TreeScanner<Void, Void>() {
        @Override
        public Void visitMethod(MethodTree method, Void nothing) {
          long lines = linesWithin(source, method.getBody());
          if (lines > LONGEST_METHOD && !TABLES.contains(source.name() + "." + method.getName())) {
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
    assertThat(Sources.MAIN)
        .filteredOn(
            source -> linesOf(source) > TO_BE_CUT.getOrDefault(source.name(), LONGEST_CLASS))
        .isEmpty();
  }

  @Test
  void what_has_been_cut_is_no_exception_any_more() {
    assertThat(Sources.MAIN)
        .filteredOn(source -> linesOf(source) > LONGEST_CLASS)
        .extracting(Source::name)
        .containsExactlyInAnyOrderElementsOf(TO_BE_CUT.keySet());
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
