package lectus;

import static com.tngtech.archunit.lang.SimpleConditionEvent.violated;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import java.util.Map;
import lectus.tidy.PackageTable;

/** Packages depend downwards only, in the order in which ARCHITECTURE.md lists them. */
@AnalyzeClasses(packages = "lectus", importOptions = ImportOption.DoNotIncludeTests.class)
final class LayeringTest {
  @ArchTest
  static final ArchRule packages_depend_on_what_stands_further_down_in_the_table =
      classes().should(new DependDownwards(PackageTable.read()));

  @ArchTest
  static final ArchRule only_the_store_knows_the_embedded_one =
      noClasses()
          .that()
          .resideOutsideOfPackages(
              "lectus.cli", "lectus.config", "lectus.store", "lectus.store.embedded..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("lectus.store.embedded..");

  @ArchTest
  static final ArchRule the_layer_knows_nothing_of_http_or_vertx =
      noClasses()
          .that()
          .resideOutsideOfPackages(
              "lectus", "lectus.cli..", "lectus.config..", "lectus.server..", "lectus.http..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.vertx..", "io.netty..");

  @ArchTest
  static final ArchRule only_its_own_class_opens_a_cluster =
      noClasses()
          .that()
          .doNotHaveFullyQualifiedName("lectus.store.FoundationDbStore")
          .should()
          .dependOnClassesThat()
          .haveFullyQualifiedName("com.apple.foundationdb.FDB");

  @ArchTest
  static final ArchRule only_one_package_knows_opentelemetry =
      noClasses()
          .that()
          .resideOutsideOfPackage("lectus.http.exchange")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.opentelemetry..");

  @ArchTest
  static final ArchRule only_what_hands_services_out_knows_all_of_them =
      noClasses()
          .that()
          .resideInAPackage("lectus.http..")
          .and()
          .haveSimpleNameNotEndingWith("Api")
          .and()
          .doNotHaveFullyQualifiedName("lectus.http.api.Routes")
          .and()
          .doNotHaveFullyQualifiedName("lectus.http.exchange.Services")
          .should()
          .dependOnClassesThat()
          .haveFullyQualifiedName("lectus.http.exchange.Services");

  private static final class DependDownwards extends ArchCondition<JavaClass> {
    private final Map<String, Integer> floors;

    DependDownwards(Map<String, Integer> floors) {
      super("depend on packages further down in ARCHITECTURE.md's table");
      this.floors = floors;
    }

    @Override
    public void check(JavaClass origin, ConditionEvents events) {
      String home = origin.getPackageName();
      Integer floor = floors.get(home);
      if (floor == null) {
        events.add(violated(origin, home + " is not in the table"));
        return;
      }
      for (Dependency dependency : origin.getDirectDependenciesFromSelf()) {
        String target = dependency.getTargetClass().getBaseComponentType().getPackageName();
        if (!target.equals(home) && floors.getOrDefault(target, Integer.MAX_VALUE) <= floor) {
          events.add(violated(dependency, dependency.getDescription()));
        }
      }
    }
  }
}
