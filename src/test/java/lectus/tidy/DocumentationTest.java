package lectus.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the documents name and link to is there. */
final class DocumentationTest {
  private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");

  /** At least two words in one: a class, not a header field, a flag or a word of a sentence. */
  private static final Pattern CLASS =
      Pattern.compile("(?<!-)\\b[A-Z][a-z]+(?:[A-Z][a-z0-9]+)+\\b");

  private static final Pattern DECLARATION =
      Pattern.compile("\\b(?:class|record|interface|enum) ([A-Z]\\w+)");

  private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");
  private static final Pattern CITED = Pattern.compile("\\[(RFC \\d+)](?!:)");

  /** How comments name a document, with the title or the number of a section if they do. */
  private static final Pattern NAMED =
      Pattern.compile(
          "(?<![\\w./-])(docs/[\\w.-]+\\.md|[A-Z]+\\.md)(?:, (?:\"([^\"]+)\"|section (\\d+)))?");

  private static final Pattern LINE_OF_A_COMMENT = Pattern.compile("\\n\\s*(?:\\*|//) ?");

  /** Classes of the JDK, fdb-java and Vert.x, and a flag of the JVM. */
  private static final Set<String> NAMES_OF_OTHERS =
      Set.of(
          "AsyncUtil",
          "CompletionException",
          "DirectoryLayer",
          "EventKeeper",
          "HttpServerConnection",
          "IllegalArgumentException",
          "IllegalStateException",
          "LocalityUtil",
          "NioTransport",
          "SharedArchiveFile",
          "WebSocketFrameImpl",
          "WebSocketInternal");

  private static final String INFO = "package-info";

  @Test
  void every_class_that_a_document_names_exists() throws IOException {
    Set<String> classes = declared();
    Set<String> missing = new TreeSet<>();
    for (Map.Entry<Path, String> document : documents().entrySet()) {
      CODE.matcher(document.getValue())
          .results()
          .flatMap(code -> CLASS.matcher(code.group(1)).results())
          .map(MatchResult::group)
          .filter(name -> !classes.contains(name) && !NAMES_OF_OTHERS.contains(name))
          .forEach(name -> missing.add(document.getKey() + ": " + name));
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void every_link_of_a_document_leads_somewhere() throws IOException {
    Map<Path, String> documents = documents();
    Set<String> broken = new TreeSet<>();
    for (Map.Entry<Path, String> document : documents.entrySet()) {
      LINK.matcher(document.getValue())
          .results()
          .map(link -> link.group(1))
          .filter(link -> !link.startsWith("https://") && !link.startsWith("http://"))
          .filter(link -> !leadsSomewhere(document.getKey(), link, documents))
          .forEach(link -> broken.add(document.getKey() + ": " + link));
    }
    assertThat(broken).isEmpty();
  }

  @Test
  void every_cited_rfc_has_its_address() throws IOException {
    Set<String> missing = new TreeSet<>();
    for (Map.Entry<Path, String> document : documents().entrySet()) {
      String text = document.getValue();
      CITED
          .matcher(text)
          .results()
          .map(cited -> cited.group(1))
          .filter(rfc -> !text.contains("[" + rfc + "]: https://"))
          .forEach(rfc -> missing.add(document.getKey() + ": " + rfc));
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void every_section_that_a_source_names_exists() throws IOException {
    Map<Path, String> documents = documents();
    Set<String> missing = new TreeSet<>();
    for (Map.Entry<Path, String> source : texts(Path.of("src"), ".java").entrySet()) {
      NAMED
          .matcher(LINE_OF_A_COMMENT.matcher(source.getValue()).replaceAll(" "))
          .results()
          .filter(named -> !isThere(named, documents))
          .forEach(named -> missing.add(source.getKey() + ": " + named.group()));
    }
    assertThat(missing).isEmpty();
  }

  private static boolean isThere(MatchResult named, Map<Path, String> documents) {
    String text = documents.get(Path.of(named.group(1)));
    String title = named.group(2);
    String number = named.group(3);
    return text != null
        && HEADING
            .matcher(text)
            .results()
            .map(heading -> heading.group(1))
            .anyMatch(
                heading ->
                    (title == null || heading.equals(title))
                        && (number == null || heading.startsWith(number + ". ")));
  }

  private static boolean leadsSomewhere(Path from, String link, Map<Path, String> documents) {
    String[] parts = link.split("#", 2);
    Path target = parts[0].isEmpty() ? from : from.resolveSibling(parts[0]).normalize();
    if (parts.length == 1) {
      return Files.exists(target);
    }
    return documents.containsKey(target)
        && HEADING
            .matcher(documents.get(target))
            .results()
            .anyMatch(heading -> anchor(heading.group(1)).equals(parts[1]));
  }

  /** As GitHub makes it. */
  private static String anchor(String heading) {
    return heading.toLowerCase(Locale.ROOT).replaceAll("[^\\w\\- ]", "").replace(' ', '-');
  }

  private static Set<String> declared() throws IOException {
    Set<String> names = new TreeSet<>();
    for (Path folder : new Path[] {Path.of("src"), Path.of("load-tests")}) {
      texts(folder, ".java")
          .values()
          .forEach(
              text ->
                  DECLARATION
                      .matcher(text)
                      .results()
                      .forEach(declaration -> names.add(declaration.group(1))));
    }
    return names;
  }

  private static Map<Path, String> documents() throws IOException {
    Map<Path, String> documents = texts(Path.of("docs"), ".md");
    for (String name : new String[] {"ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"}) {
      documents.put(Path.of(name), Files.readString(Path.of(name)));
    }
    return documents;
  }

  private static Map<Path, String> texts(Path folder, String ending) throws IOException {
    Map<Path, String> texts = new TreeMap<>();
    try (Stream<Path> tree = Files.walk(folder)) {
      Set<Path> files =
          tree.filter(path -> path.toString().endsWith(ending)).collect(Collectors.toSet());
      for (Path file : files) {
        texts.put(file, Files.readString(file));
      }
    }
    return texts;
  }

  @Test
  void each_package_has_a_package_info() {
    assertThat(packages(true)).isEqualTo(packages(false));
  }

  @Test
  void packages_of_the_table_in_architecture_md_are_those_of_the_tree() {
    assertThat(new TreeSet<>(PackageTable.read().keySet())).isEqualTo(packages(false));
  }

  private static Set<String> packages(boolean withInfo) {
    Map<Path, String> folders =
        Sources.MAIN.stream()
            .filter(source -> !withInfo || source.name().equals(INFO))
            .collect(
                Collectors.toMap(
                    source -> source.path().getParent(), Source::packageName, (one, other) -> one));
    return new TreeSet<>(folders.values());
  }
}
