package lectus.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompoundAssignmentTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.UnaryTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.TreeScanner;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import org.junit.jupiter.api.Test;

/** One way each to say that something does not change, and that something may be absent. */
class HabitsTest {
  /**
   * An interface of Netty's in which null is no value; and what runs for each leaf that is read.
   */
  private static final Set<String> WITH_NULL =
      Set.of("lectus.server.connection.LimitedTransport", "lectus.json.LeafView");

  /** fdb-java's interfaces, in which null is no value, and what stands right below them. */
  private static final String STORE_WITH_NULL = "lectus.store.embedded";

  @Test
  void classes_are_final_unless_they_are_made_for_extension() {
    List<String> found = new ArrayList<>();
    for (Source source : Sources.MAIN) {
      new TreeScanner<Void, Void>() {
        @Override
        public Void visitClass(ClassTree type, Void nothing) {
          boolean isNamed = !type.getSimpleName().isEmpty();
          if (type.getKind() == Tree.Kind.CLASS && isNamed && !saysHowItIsExtended(type)) {
            found.add(source.at(type) + " " + type.getSimpleName());
          }
          return super.visitClass(type, nothing);
        }
      }.scan(source.unit(), null);
    }
    assertThat(found).isEmpty();
  }

  @Test
  void fields_that_are_set_once_are_final() {
    List<String> found = new ArrayList<>();
    for (Source source : Sources.MAIN) {
      Set<String> assigned = assignedAfterConstruction(source);
      new TreeScanner<Void, Void>() {
        @Override
        public Void visitClass(ClassTree type, Void nothing) {
          type.getMembers().stream()
              .filter(VariableTree.class::isInstance)
              .map(VariableTree.class::cast)
              .filter(field -> type.getKind() == Tree.Kind.CLASS)
              .filter(field -> isPrivate(field) && !has(field, Modifier.FINAL))
              .filter(field -> !assigned.contains(field.getName().toString()))
              .forEach(field -> found.add(source.at(field) + " " + field.getName()));
          return super.visitClass(type, nothing);
        }
      }.scan(source.unit(), null);
    }
    assertThat(found).isEmpty();
  }

  @Test
  void parameters_and_local_variables_are_not_declared_final() {
    List<String> found = new ArrayList<>();
    Stream.concat(Sources.MAIN.stream(), Sources.TESTS.stream())
        .forEach(
            source ->
                new TreePathScanner<Void, Void>() {
                  @Override
                  public Void visitVariable(VariableTree variable, Void nothing) {
                    boolean isField =
                        getCurrentPath().getParentPath().getLeaf() instanceof ClassTree;
                    if (!isField && source.text(variable.getModifiers()).contains("final")) {
                      found.add(source.at(variable) + " " + variable.getName());
                    }
                    return super.visitVariable(variable, nothing);
                  }
                }.scan(source.unit(), null));
    assertThat(found).isEmpty();
  }

  @Test
  void public_methods_return_no_null_but_an_optional() {
    List<String> found = new ArrayList<>();
    for (Source source : Sources.MAIN) {
      if (source.packageName().startsWith(STORE_WITH_NULL)
          || WITH_NULL.contains(source.qualifiedName())) {
        continue;
      }
      new TreeScanner<Void, Void>() {
        @Override
        public Void visitMethod(MethodTree method, Void nothing) {
          if (method.getModifiers().getFlags().contains(Modifier.PUBLIC) && returnsNull(method)) {
            found.add(source.at(method) + " " + method.getName());
          }
          return super.visitMethod(method, nothing);
        }
      }.scan(source.unit(), null);
    }
    assertThat(found).isEmpty();
  }

  private static boolean saysHowItIsExtended(ClassTree type) {
    Set<Modifier> modifiers = type.getModifiers().getFlags();
    return modifiers.contains(Modifier.FINAL)
        || modifiers.contains(Modifier.ABSTRACT)
        || modifiers.contains(Modifier.SEALED);
  }

  /** An annotated field is set from outside: by picocli. */
  private static boolean isPrivate(VariableTree field) {
    return has(field, Modifier.PRIVATE) && field.getModifiers().getAnnotations().isEmpty();
  }

  private static boolean has(VariableTree variable, Modifier modifier) {
    return variable.getModifiers().getFlags().contains(modifier);
  }

  /** Names of what is assigned anywhere in a file but in constructors. */
  private static Set<String> assignedAfterConstruction(Source source) {
    Set<String> names = new HashSet<>();
    new TreeScanner<Void, Void>() {
      @Override
      public Void visitMethod(MethodTree method, Void nothing) {
        return method.getName().contentEquals("<init>") ? null : super.visitMethod(method, nothing);
      }

      @Override
      public Void visitAssignment(AssignmentTree assignment, Void nothing) {
        add(assignment.getVariable());
        return super.visitAssignment(assignment, nothing);
      }

      @Override
      public Void visitCompoundAssignment(CompoundAssignmentTree assignment, Void nothing) {
        add(assignment.getVariable());
        return super.visitCompoundAssignment(assignment, nothing);
      }

      @Override
      public Void visitUnary(UnaryTree unary, Void nothing) {
        add(unary.getExpression());
        return super.visitUnary(unary, nothing);
      }

      private void add(ExpressionTree target) {
        if (target instanceof IdentifierTree identifier) {
          names.add(identifier.getName().toString());
        } else if (target instanceof MemberSelectTree member) {
          names.add(member.getIdentifier().toString());
        }
      }
    }.scan(source.unit(), null);
    return names;
  }

  private static boolean returnsNull(MethodTree method) {
    List<ReturnTree> found = new ArrayList<>();
    new TreeScanner<Void, Void>() {
      @Override
      public Void visitReturn(ReturnTree statement, Void nothing) {
        if (statement.getExpression() != null
            && statement.getExpression().getKind() == Tree.Kind.NULL_LITERAL) {
          found.add(statement);
        }
        return null;
      }

      @Override
      public Void visitLambdaExpression(LambdaExpressionTree lambda, Void nothing) {
        return null;
      }

      @Override
      public Void visitClass(ClassTree type, Void nothing) {
        return null;
      }
    }.scan(method.getBody(), null);
    return !found.isEmpty();
  }
}
