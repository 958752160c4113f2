package lectus.tidy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** ARCHITECTURE.md's table of packages, the top first. */
public final class PackageTable {
  /** A row begins with one name, or with several that know nothing of each other. */
  private static final Pattern ROW = Pattern.compile("^\\|((?: `lectus[a-z.]*`,?)+) \\|.*");

  private static final Pattern NAME = Pattern.compile("`(lectus[a-z.]*)`");

  private PackageTable() {}

  /** The floor of each package: 0 at the top. */
  public static Map<String, Integer> read() {
    Map<String, Integer> floors = new HashMap<>();
    try (Stream<String> lines = Files.lines(Path.of("ARCHITECTURE.md"))) {
      for (Matcher row : lines.map(ROW::matcher).filter(Matcher::matches).toList()) {
        int floor = floors.size();
        NAME.matcher(row.group(1)).results().forEach(name -> floors.put(name.group(1), floor));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return floors;
  }
}
