package lectus.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.IdentifierTree;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What nothing uses is not there. */
class UnusedTest {
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
}
