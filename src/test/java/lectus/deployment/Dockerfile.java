package lectus.deployment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The instructions of docker/Dockerfile, in order.
 *
 * @param instructions without comments, each on one line
 */
record Dockerfile(List<Instruction> instructions) {
  private static final Pattern VARIABLE = Pattern.compile("(\\w+)=\"([^\"]*)\"");

  record Instruction(String name, String text) {
    /** Returns the words of the form {@code ["…", "…"]}. */
    List<String> words() {
      return Yaml.of(text).texts();
    }
  }

  static Dockerfile read() throws IOException {
    String text = Files.readString(Path.of("docker", "Dockerfile"));
    String lines = text.replaceAll("(?m)^\\s*#.*\n", "").replaceAll("\\\\\n\\s*", "");
    return new Dockerfile(
        lines.lines().filter(line -> !line.isBlank()).map(Dockerfile::instruction).toList());
  }

  private static Instruction instruction(String line) {
    String[] parts = line.split("\\s+", 2);
    return new Instruction(parts[0], parts[1]);
  }

  /** Returns what its containers have in their environment. */
  Map<String, String> environment() {
    Map<String, String> environment = new TreeMap<>();
    all("ENV")
        .flatMap(it -> VARIABLE.matcher(it.text()).results())
        .forEach(it -> environment.put(it.group(1), it.group(2)));
    return environment;
  }

  Stream<Instruction> all(String name) {
    return instructions.stream().filter(it -> it.name().equals(name));
  }

  /** Returns the default of an argument of its build. */
  String argument(String name) {
    return all("ARG")
        .map(Instruction::text)
        .filter(it -> it.startsWith(name + "="))
        .map(it -> it.substring(name.length() + 1))
        .findFirst()
        .orElseThrow(() -> new AssertionError("There is no " + name));
  }

  /** Returns the last one of this name, which is the one that counts. */
  Instruction last(String name) {
    return all(name)
        .reduce((one, other) -> other)
        .orElseThrow(() -> new AssertionError("There is no " + name));
  }
}
