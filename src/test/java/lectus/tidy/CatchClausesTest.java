package lectus.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.CatchTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.UnionTypeTree;
import com.sun.source.util.TreeScanner;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * What is caught belongs to the layer that catches it, or to one below. {@code LayeringTest} does
 * not see catch clauses.
 */
class CatchClausesTest {
  /** Exceptions of others, by the beginnings of their names, and who may know of them. */
  private static final Map<String, String> FOREIGN =
      Map.of(
          "org.rocksdb.", "lectus\\.store\\.embedded\\.engine(\\..*)?",
          "io.vertx.", "lectus\\.(server|http|cli|config)(\\..*)?",
          "io.netty.", "lectus\\.(server|http)(\\..*)?",
          "com.hazelcast.", "lectus\\.server",
          "com.apple.foundationdb.",
              "lectus\\.(store|document\\.write|derived\\.rows|audit|server|cli)(\\..*)?");

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
}
