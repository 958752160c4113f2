package lectus;

import static com.tngtech.archunit.lang.SimpleConditionEvent.violated;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

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
  static final ArchRule nothing_points_upwards =
      layeredArchitecture()
          .consideringOnlyDependenciesInAnyPackage("lectus..")
          .withOptionalLayers(true)
          .layer("main")
          .definedBy("lectus", "lectus.cli..", "lectus.config..")
          .layer("server")
          .definedBy("lectus.server..")
          .layer("http")
          .definedBy("lectus.http..")
          .layer("feed")
          .definedBy("lectus.feed..")
          .layer("audit")
          .definedBy("lectus.audit..")
          .layer("account")
          .definedBy("lectus.account..")
          .layer("document")
          .definedBy("lectus.document..")
          .layer("updates")
          .definedBy("lectus.updates..")
          .layer("changes")
          .definedBy("lectus.changes..")
          .layer("revision")
          .definedBy("lectus.revision..")
          .layer("selector")
          .definedBy("lectus.selector..")
          .layer("database")
          .definedBy("lectus.database..")
          .layer("json")
          .definedBy("lectus.json..")
          .layer("store")
          .definedBy("lectus.store")
          .layer("embedded")
          .definedBy("lectus.store.embedded")
          .layer("engine")
          .definedBy("lectus.store.embedded.engine..")
          .whereLayer("main")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("server")
          .mayOnlyBeAccessedByLayers("main")
          .whereLayer("http")
          .mayOnlyBeAccessedByLayers("main", "server")
          .whereLayer("feed")
          .mayOnlyBeAccessedByLayers("main", "server", "http")
          .whereLayer("audit")
          .mayOnlyBeAccessedByLayers("main")
          .whereLayer("account")
          .mayOnlyBeAccessedByLayers("main", "server", "http", "feed", "audit")
          .whereLayer("document")
          .mayOnlyBeAccessedByLayers("main", "server", "http", "feed", "audit", "account")
          .whereLayer("updates")
          .mayOnlyBeAccessedByLayers("server", "http", "feed", "audit")
          .whereLayer("changes")
          .mayOnlyBeAccessedByLayers("feed", "document", "audit")
          .whereLayer("embedded")
          .mayOnlyBeAccessedByLayers("main", "store")
          .whereLayer("engine")
          .mayOnlyBeAccessedByLayers("embedded");

  @ArchTest
  static final ArchRule packages_have_no_cycles =
      slices().matching("lectus.(*)..").should().beFreeOfCycles();

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
          .resideOutsideOfPackage("lectus.http.trace")
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
          .doNotHaveFullyQualifiedName("lectus.http.Services")
          .should()
          .dependOnClassesThat()
          .haveFullyQualifiedName("lectus.http.Services");

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
