package lectus.deployment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/**
 * A value of a YAML document.
 *
 * @param value a map, a list, a string, a number, a truth value or null
 */
record Yaml(Object value) {
  /** Reads the documents of a file. A member that is given twice is refused. */
  static List<Yaml> all(Path file) throws IOException {
    Load load = new Load(LoadSettings.builder().setAllowDuplicateKeys(false).build());
    List<Yaml> documents = new ArrayList<>();
    load.loadAllFromString(Files.readString(file)).forEach(it -> documents.add(new Yaml(it)));
    return documents;
  }

  static Yaml of(Path file) throws IOException {
    return of(Files.readString(file));
  }

  static Yaml of(String text) {
    return new Yaml(new Load(LoadSettings.builder().build()).loadFromString(text));
  }

  /** Returns the value below members of these names. */
  Yaml at(String... names) {
    Yaml found = this;
    for (String name : names) {
      Yaml parent = found;
      found =
          parent
              .find(name)
              .orElseThrow(() -> new AssertionError("There is no " + name + " in " + parent));
    }
    return found;
  }

  Optional<Yaml> find(String name) {
    return Optional.ofNullable(map().get(name)).map(Yaml::new);
  }

  Set<String> names() {
    return map().keySet();
  }

  List<Yaml> items() {
    return ((List<?>) value).stream().map(item -> new Yaml(item)).toList();
  }

  List<String> texts() {
    return items().stream().map(Yaml::text).toList();
  }

  String text() {
    return String.valueOf(value);
  }

  int number() {
    return (Integer) value;
  }

  @SuppressWarnings("unchecked")
  Map<String, Object> map() {
    return (Map<String, Object>) value;
  }
}
