package lectus.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.CaseTree;
import com.sun.source.tree.CatchTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompoundAssignmentTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewArrayTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.UnaryTree;
import com.sun.source.tree.UnionTypeTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import org.junit.jupiter.api.Test;

/** Ways to write code and tests that a parser can see. */
class HabitsTest {
  /**
   * An interface of Netty's in which null is no value; and what runs for each leaf that is read.
   */
  private static final Set<String> WITH_NULL =
      Set.of("lectus.server.connection.LimitedTransport", "lectus.json.LeafView");

  /** fdb-java's interfaces, in which null is no value, and what stands right below them. */
  private static final String STORE_WITH_NULL = "lectus.store.embedded";

  /** Exceptions of others, by the beginnings of their names, and who may know of them. */
  private static final Map<String, String> FOREIGN =
      Map.of(
          "org.rocksdb.", "lectus\\.store\\.embedded\\.engine(\\..*)?",
          "io.vertx.", "lectus\\.(server|http|cli|config)(\\..*)?",
          "io.netty.", "lectus\\.(server|http)(\\..*)?",
          "com.hazelcast.", "lectus\\.server",
          "com.apple.foundationdb.",
              "lectus\\.(store|document\\.write|derived\\.rows|audit|server|cli)(\\..*)?");

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

  /**
   * The command line, and the word of patterns in an administrator's own configuration of the log.
   */
  private static final Set<String> ENTRY_POINTS = Set.of("Lectus", "EventFields");

  private static final Pattern DEPENDENCY =
      Pattern.compile(
          "<dependency>\\s*<groupId>[^<]*</groupId>\\s*<artifactId>([^<]*)</artifactId>"
              + "\\s*<version>[^<]*</version>\\s*(<scope>test</scope>)?");

  /** With what the imports of a dependency begin. */
  private static final Map<String, String> PACKAGES =
      Map.ofEntries(
          Map.entry("vertx-core", "io.vertx.core."),
          Map.entry("vertx-web", "io.vertx.ext.web."),
          Map.entry("vertx-hazelcast", "io.vertx.spi.cluster.hazelcast."),
          Map.entry("netty-codec-haproxy", "io.netty.handler.codec.haproxy."),
          Map.entry("fdb-java", "com.apple.foundationdb."),
          Map.entry("rocksdbjni", "org.rocksdb."),
          Map.entry("jackson-core", "com.fasterxml.jackson.core."),
          Map.entry("caffeine", "com.github.benmanes.caffeine."),
          Map.entry("nimbus-jose-jwt", "com.nimbusds."),
          Map.entry("re2j", "com.google.re2j."),
          Map.entry("icu4j", "com.ibm.icu."),
          Map.entry("cloudant", "com.ibm.cloud."),
          Map.entry("lightcouch", "org.lightcouch."),
          Map.entry("micrometer-registry-prometheus", "io.micrometer."),
          Map.entry("opentelemetry-sdk", "io.opentelemetry.sdk."),
          Map.entry("opentelemetry-exporter-otlp", "io.opentelemetry.exporter.otlp."),
          Map.entry("logback-classic", "ch.qos.logback."),
          Map.entry("picocli", "picocli."),
          Map.entry("junit-jupiter", "org.junit.jupiter."),
          Map.entry("junit-platform-launcher", "org.junit.platform."),
          Map.entry("assertj-core", "org.assertj.core."),
          Map.entry("byte-buddy", "net.bytebuddy."),
          Map.entry("jqwik", "net.jqwik."),
          Map.entry("archunit-junit5", "com.tngtech.archunit."),
          Map.entry("vertx-junit5", "io.vertx.junit5."),
          Map.entry("jmh-core", "org.openjdk.jmh."),
          Map.entry("javet", "com.caoccao.javet."),
          Map.entry("rhino", "org.mozilla.javascript."),
          Map.entry("client-java-api", "io.kubernetes.client.openapi.models."),
          Map.entry("gson", "com.google.gson."),
          Map.entry("snakeyaml-engine", "org.snakeyaml.engine."),
          Map.entry("vertx-json-schema", "io.vertx.json.schema."));

  /**
   * What nobody imports: V8 is a native library, SLF4J stands before Logback, OpenTelemetry looks
   * for a sender, and javac runs JMH's generator.
   */
  private static final Set<String> BEHIND_THE_SCENES =
      Set.of(
          "logback-classic",
          "javet-v8-${javet.platform}",
          "opentelemetry-exporter-sender-jdk",
          "jmh-generator-annprocess");

  private static final Pattern TEST_NAME = Pattern.compile("[a-z][a-z0-9]*(_[a-z0-9]+)*");

  /** What marks a method as a test. */
  private static final Set<String> TEST_ANNOTATIONS =
      Set.of("Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "Property");

  /** Words that say nothing of what a class is for. */
  private static final Pattern EMPTY_WORD =
      Pattern.compile(".*(Utils?|Managers?|Helpers?|Impls?)([A-Z].*)?");

  /** CouchDB's dashboard has this name: {@code /_utils}. */
  private static final Set<String> NAMES_OF_OTHERS = Set.of("UtilsResource");

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

  @Test
  void what_is_caught_does_not_come_from_above() {
    Map<String, Integer> floors = PackageTable.read();
    assertThat(caught())
        .filteredOn(one -> one.type().startsWith("lectus."))
        .isNotEmpty()
        .filteredOn(one -> floorOf(floors, one.type()) < floors.get(one.by().packageName()))
        .isEmpty();
  }

  @Test
  void exceptions_of_libraries_are_caught_where_the_library_is_used() {
    FOREIGN.forEach(
        (beginning, who) ->
            assertThat(caught())
                .filteredOn(one -> one.type().startsWith(beginning))
                .allMatch(one -> one.by().packageName().matches(who)));
  }

  private record Caught(Source by, String type) {
    @Override
    public String toString() {
      return by.path() + " catches " + type;
    }
  }

  private static int floorOf(Map<String, Integer> floors, String type) {
    return floors.get(type.replaceAll("(\\.[A-Z]\\w*)+$", ""));
  }

  private static List<Caught> caught() {
    Map<String, Set<String>> classes =
        Sources.MAIN.stream()
            .collect(
                Collectors.groupingBy(
                    Source::packageName, Collectors.mapping(Source::name, Collectors.toSet())));
    List<Caught> caught = new ArrayList<>();
    for (Source source : Sources.MAIN) {
      new TreeScanner<Void, Void>() {
        @Override
        public Void visitCatch(CatchTree clause, Void nothing) {
          Tree type = clause.getParameter().getType();
          List<? extends Tree> types =
              type instanceof UnionTypeTree union ? union.getTypeAlternatives() : List.of(type);
          types.forEach(one -> caught.add(new Caught(source, qualified(one))));
          return super.visitCatch(clause, nothing);
        }

        /** As it is imported; nested classes stand for those that they lie in. */
        private String qualified(Tree type) {
          String outermost = type.toString().replaceFirst("\\..*", "");
          return source.imports().stream()
              .filter(line -> line.endsWith("." + outermost))
              .findFirst()
              .orElseGet(
                  () ->
                      classes.get(source.packageName()).contains(outermost)
                          ? source.packageName() + "." + outermost
                          : outermost);
        }
      }.scan(source.unit(), null);
    }
    return caught;
  }

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

  @Test
  void every_class_is_used_by_another_one() throws IOException {
    Map<String, Set<String>> usersOf = new HashMap<>();
    for (Source source : Sources.MAIN) {
      new TreeScanner<Void, Void>() {
        @Override
        public Void visitIdentifier(IdentifierTree identifier, Void nothing) {
          String name = identifier.getName().toString();
          usersOf.computeIfAbsent(name, key -> new HashSet<>()).add(source.name());
          return null;
        }
      }.scan(source.unit().getTypeDecls(), null);
    }
    assertThat(Sources.MAIN)
        .extracting(Source::name)
        .filteredOn(name -> !name.equals("package-info") && !ENTRY_POINTS.contains(name))
        .filteredOn(name -> Set.of(name).containsAll(usersOf.getOrDefault(name, Set.of())))
        .isEmpty();
  }

  @Test
  void every_dependency_is_imported() throws IOException {
    String pom = Files.readString(Path.of("pom.xml"));
    String own = pom.substring(0, pom.indexOf("<build>"));
    List<MatchResult> dependencies = DEPENDENCY.matcher(own).results().toList();
    assertThat(dependencies).hasSize(own.split("<dependency>", -1).length - 1);
    assertThat(dependencies)
        .filteredOn(dependency -> !BEHIND_THE_SCENES.contains(dependency.group(1)))
        .filteredOn(dependency -> !isUsed(dependency.group(1), dependency.group(2) != null))
        .extracting(MatchResult::group)
        .isEmpty();
  }

  private static boolean isUsed(String artifact, boolean byTests) {
    String beginning = PACKAGES.get(artifact);
    return beginning != null
        && (byTests ? Sources.TESTS : Sources.MAIN)
            .stream()
                .flatMap(source -> source.imports().stream())
                .anyMatch(line -> line.startsWith(beginning));
  }

  @Test
  void tests_are_named_in_lower_case_with_underscores() {
    List<String> found = new ArrayList<>();
    for (Source source : Sources.TESTS) {
      new TreeScanner<Void, Void>() {
        @Override
        public Void visitMethod(MethodTree method, Void nothing) {
          if (isTest(method) && !TEST_NAME.matcher(method.getName()).matches()) {
            found.add(source.at(method) + " " + method.getName());
          }
          return super.visitMethod(method, nothing);
        }
      }.scan(source.unit(), null);
    }
    assertThat(found).isEmpty();
  }

  @Test
  void no_class_is_a_util_manager_helper_or_impl() {
    assertThat(names(Sources.MAIN))
        .filteredOn(name -> !NAMES_OF_OTHERS.contains(name))
        .noneMatch(name -> EMPTY_WORD.matcher(name).matches());
  }

  @Test
  void no_two_classes_have_one_name() {
    assertThat(
            Sources.MAIN.stream()
                .map(Source::name)
                .filter(name -> !name.equals("package-info"))
                .toList())
        .doesNotHaveDuplicates();
  }

  @Test
  void no_class_is_named_like_one_of_rocksdb_that_is_used() {
    Set<String> used =
        Sources.MAIN.stream()
            .flatMap(source -> source.imports().stream())
            .filter(line -> line.startsWith("org.rocksdb."))
            .map(line -> line.substring(line.lastIndexOf('.') + 1))
            .collect(Collectors.toSet());
    assertThat(used).contains("RocksDB");
    assertThat(names(Sources.MAIN)).doesNotContainAnyElementsOf(used);
  }

  private static Set<String> names(List<Source> sources) {
    return sources.stream()
        .map(Source::name)
        .filter(name -> !name.equals("package-info"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static boolean isTest(MethodTree method) {
    return method.getModifiers().getAnnotations().stream()
        .map(AnnotationTree::getAnnotationType)
        .anyMatch(type -> TEST_ANNOTATIONS.contains(type.toString()));
  }
}
