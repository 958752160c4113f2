package lectus.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lectus.config.Configuration;
import lectus.config.ConfigurationException;

/**
 * The arguments and the environment of this process, which are UTF-8 whatever the locale is. Java
 * decodes them by the locale: in containers, which have none, a password of other characters than
 * ASCII would become one that anybody can guess. Linux has their bytes; elsewhere what Java could
 * not decode is refused. A secret may be in a file that a variable with {@code _FILE} names.
 */
public record ProcessText(List<String> arguments, Map<String, String> environment) {
  /** Variables in place of which the name of a file may be given, as containers get secrets. */
  private static final Set<String> SECRETS =
      Stream.concat(
              Stream.of(Serving.USER, Serving.PASSWORD, ImportCommand.USER, ImportCommand.PASSWORD),
              Configuration.SECRET_VARIABLES.stream())
          .collect(Collectors.toUnmodifiableSet());

  private static final int LONGEST_SECRET_BYTES = 65_536;

  private static final Path SELF = Path.of("/proc/self");

  /** What Java makes of bytes that the locale does not have. */
  private static final String UNDECODED = "\uFFFD";

  /**
   * @param decoded the arguments as Java decodes them
   * @throws ConfigurationException an argument, or a variable for Lectus, is not UTF-8
   */
  public static ProcessText of(String[] decoded) {
    return new ProcessText(arguments(decoded), ownEnvironment());
  }

  private static List<String> arguments(String[] decoded) {
    List<byte[]> all = elements("cmdline");
    List<String> arguments = new ArrayList<>(decoded.length);
    for (int i = 0; i < decoded.length; i++) {
      int at = all.size() - decoded.length + i;
      byte[] kernels = at < 0 ? null : all.get(at);
      arguments.add(text(kernels, decoded[i], "Argument " + (i + 1)));
    }
    return arguments;
  }

  private static Map<String, String> ownEnvironment() {
    Map<String, byte[]> kernels = new HashMap<>();
    for (byte[] element : elements("environ")) {
      String octets = new String(element, StandardCharsets.ISO_8859_1);
      int equals = Math.max(0, octets.indexOf('='));
      kernels.put(
          octets.substring(0, equals),
          Arrays.copyOfRange(element, Math.min(equals + 1, element.length), element.length));
    }
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.replaceAll(
        (name, decoded) ->
            isOurs(name) ? text(kernels.get(name), decoded, "The variable " + name) : decoded);
    SECRETS.forEach(name -> readFile(environment, name));
    return environment;
  }

  /** Puts a secret in its place if another variable names the file that has it. */
  private static void readFile(Map<String, String> environment, String secret) {
    String naming = secret + "_FILE";
    String file = environment.getOrDefault(naming, "");
    environment.remove(naming);
    if (file.isEmpty()) {
      return;
    }
    if (!environment.getOrDefault(secret, "").isEmpty()) {
      throw new ConfigurationException(
          "Only one of the variables " + secret + " and " + naming + " may be set.");
    }
    try (InputStream in = Files.newInputStream(Path.of(file))) {
      byte[] bytes = in.readNBytes(LONGEST_SECRET_BYTES + 1);
      if (bytes.length > LONGEST_SECRET_BYTES) {
        throw new ConfigurationException(
            "The file of " + naming + " has more than " + LONGEST_SECRET_BYTES + " bytes.");
      }
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      String content = text.replaceFirst("\r?\n\\z", "");
      if (content.isEmpty()) {
        throw new ConfigurationException("The file of " + naming + " is empty.");
      }
      environment.put(secret, content);
    } catch (CharacterCodingException malformed) {
      throw new ConfigurationException("The file of " + naming + " is not UTF-8.");
    } catch (IOException unreadable) {
      throw new ConfigurationException(
          "The file of " + naming + " cannot be read by this user: " + file + ".");
    }
  }

  private static boolean isOurs(String variable) {
    return variable.startsWith("LECTUS_") || variable.startsWith("COUCHDB_");
  }

  /** Returns what the kernel has, each element up to a NUL; none on other systems than Linux. */
  private static List<byte[]> elements(String file) {
    List<byte[]> elements = new ArrayList<>();
    try {
      byte[] all = Files.readAllBytes(SELF.resolve(file));
      int from = 0;
      for (int at = 0; at < all.length; at++) {
        if (all[at] == 0) {
          elements.add(Arrays.copyOfRange(all, from, at));
          from = at + 1;
        }
      }
      return elements;
    } catch (IOException other) {
      return List.of();
    }
  }

  /**
   * @param kernels the bytes; null if they are not known
   */
  private static String text(byte[] kernels, String decoded, String what) {
    if (decoded.chars().allMatch(c -> c < 0x80)) {
      return decoded;
    }
    if (kernels == null && decoded.contains(UNDECODED)) {
      throw new ConfigurationException(
          what + " has characters that the locale does not have; one with UTF-8 has all.");
    }
    try {
      return kernels == null
          ? decoded
          : StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(kernels)).toString();
    } catch (CharacterCodingException malformed) {
      throw new ConfigurationException(what + " is not UTF-8.");
    }
  }
}
