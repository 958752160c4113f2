package lectus.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.TreeScanner;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Names of classes that say what they are for, and of tests that read as sentences. */
class NamesTest {
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
