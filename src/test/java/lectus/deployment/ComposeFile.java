package lectus.deployment;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A compose file of the folder docker. */
final class ComposeFile {
  static final Path FOLDER = Path.of("docker");

  private final Yaml yaml;

  ComposeFile(String name) throws IOException {
    yaml = Yaml.of(FOLDER.resolve(name));
  }

  Yaml yaml() {
    return yaml;
  }

  Yaml service(String name) {
    return yaml.at("services", name);
  }

  /** Returns the names of the services that are servers. */
  List<String> servers() {
    return yaml.at("services").names().stream()
        .filter(name -> service(name).at("image").text().equals("lectus"))
        .toList();
  }

  /** Returns what a service's server runs with, besides what its environment file says. */
  Served served(String name) throws IOException {
    Yaml service = service(name);
    List<String> command =
        service.find("command").map(Yaml::texts).orElse(Dockerfile.read().last("CMD").words());
    return Served.by(command, environment(name));
  }

  Map<String, String> environment(String name) {
    Map<String, String> environment = new LinkedHashMap<>();
    service(name)
        .find("environment")
        .ifPresent(
            variables ->
                variables
                    .map()
                    .forEach((variable, value) -> environment.put(variable, value.toString())));
    return environment;
  }

  /** Returns the files and folders of this repository that services mount. */
  List<Path> mounted() {
    List<Path> mounted = new ArrayList<>();
    for (String name : yaml.at("services").names()) {
      service(name).find("volumes").map(Yaml::texts).orElse(List.of()).stream()
          .map(volume -> volume.split(":")[0])
          .filter(source -> source.startsWith("."))
          .forEach(source -> mounted.add(FOLDER.resolve(source).normalize()));
    }
    return mounted;
  }
}
