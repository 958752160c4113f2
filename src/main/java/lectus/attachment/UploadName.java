package lectus.attachment;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;
import lectus.error.LectusException;

/**
 * What a user calls an upload that comes in pieces. Each user has names of his own, so nobody sees
 * or continues another's upload. Clients who are not logged in share theirs.
 *
 * @param user SHA-256 of the user's name in hex digits, which is never long; empty for nobody
 * @param text as the client chose it
 */
public record UploadName(String user, String text) {
  private static final Pattern ALLOWED = Pattern.compile("[A-Za-z0-9._~-]{1,64}");

  /**
   * @throws LectusException {@code bad_request}: too long, empty, or with other characters
   */
  public static UploadName of(Optional<String> user, String text) {
    if (!ALLOWED.matcher(text).matches()) {
      throw LectusException.badRequest(
          "An upload's ID has 1 to 64 letters, digits and characters of ._~- only.");
    }
    return new UploadName(user.map(UploadName::hashed).orElse(""), text);
  }

  private static String hashed(String user) {
    byte[] name = user.getBytes(StandardCharsets.UTF_8);
    return HexFormat.of().formatHex(Digests.sha256().digest(name));
  }
}
