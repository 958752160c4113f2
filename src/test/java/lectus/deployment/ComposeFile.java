package lectus.deployment;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

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
    return Served.by(command(name), environment(name));
  }

  private List<String> command(String name) throws IOException {
    Optional<Yaml> command = service(name).find("command");
    return command.isPresent() ? command.get().texts() : Dockerfile.read().last("CMD").words();
  }

  /** As {@link #served}, with the files that it mounts where they are on this machine. */
  Served servedHere(String name) throws IOException {
    Map<String, String> environment = environment(name);
    for (String volume : service(name).at("volumes").texts()) {
      String[] parts = volume.split(":");
      String here = FOLDER.resolve(parts[0]).toString();
      environment.replaceAll((variable, value) -> value.equals(parts[1]) ? here : value);
    }
    return Served.by(command(name), environment);
  }

  Map<String, String> environment(String name) throws IOException {
    Map<String, String> environment = new LinkedHashMap<>();
    if (servers().contains(name)) {
      environment.putAll(Dockerfile.read().environment());
    }
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
      sourcesOf(name)
          .filter(source -> source.startsWith("."))
          .forEach(source -> mounted.add(FOLDER.resolve(source).normalize()));
    }
    return mounted;
  }

  /** Returns the names of the volumes that a service mounts. */
  List<String> volumesOf(String name) {
    return sourcesOf(name).filter(source -> !source.startsWith(".")).toList();
  }

  private Stream<String> sourcesOf(String name) {
    return service(name).find("volumes").map(Yaml::texts).orElse(List.of()).stream()
        .map(volume -> volume.split(":")[0]);
  }
}
