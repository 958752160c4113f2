package lectus.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.CaseTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.NewArrayTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import javax.lang.model.element.Modifier;
import org.junit.jupiter.api.Test;

/**
 * A number in the code has a name. It needs none if it has one digit, or is a power of ten by which
 * units are converted; if it is a pattern of bits; if it is the capacity to begin with of what
 * grows by itself; if it is a status of HTTP; or if it is the 31 of hash codes.
 */
class NumbersTest {
  private static final Set<Long> POWERS_OF_TEN = Set.of(10L, 100L, 1_000L);

  private static final Set<Long> STATUSES = Set.of(200L, 201L, 202L, 204L, 301L, 302L, 304L);

  /** The table of what is answered to errors. */
  private static final String STATUS_TABLE = "ErrorStatus";

  private static final long HASH_FACTOR = 31;

  private static final Set<Tree.Kind> BITWISE =
      EnumSet.of(
          Tree.Kind.AND,
          Tree.Kind.OR,
          Tree.Kind.XOR,
          Tree.Kind.LEFT_SHIFT,
          Tree.Kind.RIGHT_SHIFT,
          Tree.Kind.UNSIGNED_RIGHT_SHIFT,
          Tree.Kind.LEFT_SHIFT_ASSIGNMENT,
          Tree.Kind.RIGHT_SHIFT_ASSIGNMENT,
          Tree.Kind.UNSIGNED_RIGHT_SHIFT_ASSIGNMENT);

  private static final Set<Tree.Kind> SUMS = EnumSet.of(Tree.Kind.PLUS, Tree.Kind.MULTIPLY);

  @Test
  void every_number_is_explained() {
    List<String> found = new ArrayList<>();
    for (Source source : Sources.MAIN) {
      new TreePathScanner<Void, Void>() {
        @Override
        public Void visitLiteral(LiteralTree literal, Void nothing) {
          if (literal.getValue() instanceof Number number
              && !isPlain(source, number.longValue())
              && !source.text(literal).startsWith("0x")
              && !isExplained(getCurrentPath())) {
            found.add(source.at(literal) + " " + literal);
          }
          return null;
        }
      }.scan(source.unit(), null);
    }
    assertThat(found).isEmpty();
  }

  private static boolean isPlain(Source source, long number) {
    boolean isDigit = number > -10 && number < 10;
    boolean isStatus =
        source.name().equals(STATUS_TABLE)
            || (source.packageName().startsWith("lectus.http") && STATUSES.contains(number));
    return isDigit || isStatus || POWERS_OF_TEN.contains(number);
  }

  private static boolean isExplained(TreePath literal) {
    Tree parent = literal.getParentPath().getLeaf();
    return isNamed(literal.getParentPath())
        || BITWISE.contains(parent.getKind())
        || isPartOfCapacity(literal.getParentPath())
        || isOfHashCode((LiteralTree) literal.getLeaf(), parent);
  }

  /** The value of a variable, or part of a constant's, of an annotation or of a table. */
  private static boolean isNamed(TreePath parent) {
    if (parent.getLeaf() instanceof VariableTree) {
      return true;
    }
    for (TreePath path = parent; path != null; path = path.getParentPath()) {
      Tree tree = path.getLeaf();
      if (tree instanceof CaseTree || tree instanceof AnnotationTree) {
        return true;
      }
      if (tree instanceof VariableTree variable) {
        Set<Modifier> modifiers = variable.getModifiers().getFlags();
        Tree.Kind owner = path.getParentPath().getLeaf().getKind();
        return modifiers.containsAll(Set.of(Modifier.STATIC, Modifier.FINAL))
            || owner == Tree.Kind.INTERFACE;
      }
    }
    return false;
  }

  /** The only argument of a constructor or an array, or a term of it. */
  private static boolean isPartOfCapacity(TreePath path) {
    Tree tree = path.getLeaf();
    return SUMS.contains(tree.getKind())
        ? isPartOfCapacity(path.getParentPath())
        : (tree instanceof NewClassTree created && created.getArguments().size() == 1)
            || (tree instanceof NewArrayTree array && array.getDimensions().size() == 1);
  }

  private static boolean isOfHashCode(LiteralTree literal, Tree parent) {
    return parent.getKind() == Tree.Kind.MULTIPLY
        && ((Number) literal.getValue()).longValue() == HASH_FACTOR;
  }
}
