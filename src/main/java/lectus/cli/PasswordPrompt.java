package lectus.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import lectus.config.ConfigurationException;

/**
 * Asks for a password: at a terminal without echo, a new one twice, else the first line of input.
 */
public interface PasswordPrompt {
  /** Returns empty if there is none, or if it was not repeated correctly. */
  Optional<String> ask(String name);

  static PasswordPrompt ofProcess(boolean isTerminal) {
    return isTerminal ? PasswordPrompt::atTerminal : name -> firstLine();
  }

  /** Returns a prompt for a password that exists: it is asked for once. */
  static PasswordPrompt ofExisting(boolean isTerminal) {
    return isTerminal
        ? name ->
            Optional.ofNullable(System.console().readPassword("Password of %s: ", name))
                .map(String::new)
        : name -> firstLine();
  }

  private static Optional<String> atTerminal(String name) {
    char[] password = System.console().readPassword("Password of %s: ", name);
    char[] again = System.console().readPassword("Once more: ");
    return password != null && Arrays.equals(password, again)
        ? Optional.of(readable(new String(password)))
        : Optional.empty();
  }

  /**
   * @throws ConfigurationException it has what stands for characters that were not understood:
   *     whoever knows that could log in
   */
  private static String readable(String password) {
    if (password.indexOf('\uFFFD') >= 0) {
      throw new ConfigurationException(
          "The password has characters that are not UTF-8, or that the locale does not have.");
    }
    return password;
  }

  private static Optional<String> firstLine() {
    try {
      BufferedReader lines =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      return Optional.ofNullable(lines.readLine()).map(PasswordPrompt::readable);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
