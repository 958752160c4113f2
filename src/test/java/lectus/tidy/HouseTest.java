package lectus.tidy;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.BlockTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.TreeScanner;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.lang.model.element.Modifier;
import org.junit.jupiter.api.Test;

/**
 * How large the house is. Each number may fall and must not rise: whoever makes one smaller lowers
 * its limit here. A method fits on a page, and a file is read in one go; neither length is a goal.
 */
class HouseTest {
  /** A file of so many lines or fewer is a slip: most belong into the file that uses them. */
  private static final int LINES_OF_A_SLIP = 40;

  private static final Map<String, Integer> LIMITS =
      Map.ofEntries(
          Map.entry("files of main", 795),
          Map.entry("lines of main", 141_170),
          Map.entry("packages", 42),
          Map.entry("files of the largest package", 35),
          Map.entry("files of at most 40 lines", 52),
          Map.entry("types with one user, which is in their package", 98),
          Map.entry("methods that only forward", 147),
          Map.entry("methods that nobody calls", 0),
          Map.entry("files of tests", 458),
          Map.entry("lines of tests", 122_675));

  private static final List<Source> FILES =
      Sources.MAIN.stream().filter(source -> !source.name().equals("package-info")).toList();

  /** Lines between the braces of a method. */
  private static final int LONGEST_METHOD = 70;

  /** Lines of a file. */
  private static final int LONGEST_CLASS = 1_000;

  @Test
  void the_house_does_not_grow() {
    Map<String, Integer> found = new HashMap<>();
    Collection<Long> packages =
        FILES.stream().collect(groupingBy(Source::packageName, counting())).values();
    found.put("files of main", Sources.MAIN.size());
    found.put("lines of main", lines(Sources.MAIN));
    found.put("packages", packages.size());
    found.put(
        "files of the largest package",
        packages.stream().mapToInt(Long::intValue).max().orElseThrow());
    found.put(
        "files of at most 40 lines",
        (int) FILES.stream().filter(file -> lines(file) <= LINES_OF_A_SLIP).count());
    found.put("types with one user, which is in their package", withOneNeighbour().size());
    found.put("methods that only forward", forwarding().size());
    found.put("methods that nobody calls", uncalled().size());
    found.put("files of tests", Sources.TESTS.size());
    found.put("lines of tests", lines(Sources.TESTS));

    new TreeSet<>(found.keySet())
        .forEach(name -> System.out.printf("%8d  %s%n", found.get(name), name));
    uncalled().forEach(System.out::println);
    assertThat(found.keySet()).isEqualTo(LIMITS.keySet());
    assertThat(found)
        .allSatisfy((name, is) -> assertThat(is).as(name).isLessThanOrEqualTo(LIMITS.get(name)));
  }

  private static Set<String> withOneNeighbour() {
    Map<String, Set<Source>> usersOf = new HashMap<>();
    for (Source source : FILES) {
      new TreeScanner<Void, Void>() {
        @Override
        public Void visitIdentifier(IdentifierTree identifier, Void nothing) {
          usersOf
              .computeIfAbsent(identifier.getName().toString(), name -> new HashSet<>())
              .add(source);
          return null;
        }
      }.scan(source.unit().getTypeDecls(), null);
    }
    Set<String> found = new TreeSet<>();
    for (Source source : FILES) {
      Set<Source> users = new HashSet<>(usersOf.getOrDefault(source.name(), Set.of()));
      users.remove(source);
      if (users.size() == 1 && users.iterator().next().packageName().equals(source.packageName())) {
        found.add(source.qualifiedName());
      }
    }
    return found;
  }

  /**
   * Methods whose one statement is a call with exactly their own parameters. One that overrides
   * does not count: it has the name that a supertype gave it, and its callers hold that type.
   */
  private static List<String> forwarding() {
    List<String> found = new ArrayList<>();
    for (Source source : FILES) {
      new TreeScanner<Void, Void>() {
        @Override
        public Void visitMethod(MethodTree method, Void nothing) {
          if (forwards(method)) {
            found.add(source.at(method) + " " + method.getName());
          }
          return super.visitMethod(method, nothing);
        }
      }.scan(source.unit(), null);
    }
    return found;
  }

  private static boolean forwards(MethodTree method) {
    if (method.getBody() == null
        || method.getBody().getStatements().size() != 1
        || overrides(method)
        || method.getName().contentEquals("<init>")) {
      return false;
    }
    StatementTree statement = method.getBody().getStatements().get(0);
    ExpressionTree value =
        statement instanceof ReturnTree returned
            ? returned.getExpression()
            : statement instanceof ExpressionStatementTree expression
                ? expression.getExpression()
                : null;
    return value instanceof MethodInvocationTree call
        && isOfOneField(call.getMethodSelect())
        && call.getArguments().stream()
            .map(Tree::toString)
            .toList()
            .equals(
                method.getParameters().stream()
                    .map(parameter -> parameter.getName().toString())
                    .toList());
  }

  private static boolean overrides(MethodTree method) {
    return method.getModifiers().getAnnotations().stream()
        .anyMatch(annotation -> annotation.getAnnotationType().toString().equals("Override"));
  }

  /** Whether a call is to a method of a field, or of this object. */
  private static boolean isOfOneField(ExpressionTree called) {
    return called instanceof IdentifierTree
        || (called instanceof MemberSelectTree select
            && (select.getExpression() instanceof IdentifierTree
                || select.getExpression() instanceof MemberSelectTree));
  }

  private static Set<String> uncalled() {
    Set<String> used = new HashSet<>();
    Map<String, String> declared = new HashMap<>();
    for (Source source : FILES) {
      new TreeScanner<Void, Void>() {
        @Override
        public Void visitIdentifier(IdentifierTree identifier, Void nothing) {
          used.add(identifier.getName().toString());
          return null;
        }

        @Override
        public Void visitMemberSelect(MemberSelectTree select, Void nothing) {
          used.add(select.getIdentifier().toString());
          return super.visitMemberSelect(select, nothing);
        }

        @Override
        public Void visitMemberReference(MemberReferenceTree reference, Void nothing) {
          used.add(reference.getName().toString());
          return super.visitMemberReference(reference, nothing);
        }

        @Override
        public Void visitClass(ClassTree type, Void nothing) {
          type.getMembers().stream()
              .filter(MethodTree.class::isInstance)
              .map(MethodTree.class::cast)
              .filter(method -> method.getModifiers().getAnnotations().isEmpty())
              .filter(method -> !method.getName().contentEquals("<init>"))
              .filter(method -> !isMain(method))
              .forEach(method -> declared.put(method.getName().toString(), source.at(method)));
          return super.visitClass(type, nothing);
        }
      }.scan(source.unit().getTypeDecls(), null);
    }
    return declared.entrySet().stream()
        .filter(method -> !used.contains(method.getKey()))
        .map(method -> method.getValue() + " " + method.getKey())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static boolean isMain(MethodTree method) {
    return method.getName().contentEquals("main")
        && method.getModifiers().getFlags().contains(Modifier.STATIC);
  }

  private static int lines(List<Source> sources) {
    return sources.stream().mapToInt(HouseTest::lines).sum();
  }

  private static int lines(Source source) {
    return (int) source.lastLine(source.unit());
  }

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
