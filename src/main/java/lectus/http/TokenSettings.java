package lectus.http;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Which JSON web tokens are taken.
 *
 * @param keys the file with the keys; empty: no token is taken
 * @param rolesClaim the claim that lists the user's roles: a name, or names with dots between them
 *     of which each leads deeper
 * @param required claims that a token must have, each with the value that it must have, if any
 */
public record TokenSettings(
    Optional<Path> keys, String rolesClaim, Map<String, Optional<String>> required) {
  public TokenSettings {
    required = Map.copyOf(required);
  }

  /**
   * Reads a file of keys as it will be read, before a server starts with it.
   *
   * @throws MalformedKeysException what is wrong with it
   */
  public static void checkKeys(Path file) throws IOException, MalformedKeysException {
    TokenKeys.read(file);
  }
}
