package lectus.http.access;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;
import lectus.document.RequestJson;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.message.QueryParameters;
import lectus.json.JsonValue;

/** The two forms in which a client sends its name and password. */
enum LoginForm {
  JSON {
    @Override
    Optional<String> member(byte[] body, String name) {
      return RequestJson.object(body).get(name).map(LoginForm::text);
    }
  },

  URL_ENCODED {
    @Override
    Optional<String> member(byte[] body, String name) {
      return QueryParameters.parse(new String(body, StandardCharsets.ISO_8859_1)).text(name);
    }
  };

  /** The longest name, in bytes of UTF-8; that of a document's id. */
  private static final int LONGEST_NAME = 512;

  /**
   * @param contentType null if absent
   * @throws LectusException {@code bad_content_type} (415)
   */
  static LoginForm of(String contentType) {
    String type = contentType == null ? "" : contentType.toLowerCase(Locale.ROOT);
    if (type.startsWith("application/x-www-form-urlencoded")) {
      return URL_ENCODED;
    }
    if (type.startsWith("application/json")) {
      return JSON;
    }
    throw new LectusException(
        new LectusError.UnsupportedMediaType(
            "Content-Type must be 'application/x-www-form-urlencoded' or 'application/json'"));
  }

  /**
   * Returns the name that logs in.
   *
   * @throws LectusException {@code bad_request}: no name, two, or one that is too long
   */
  String name(byte[] body) {
    Optional<String> couchdbs = member(body, "name");
    Optional<String> others = member(body, "username");
    if (couchdbs.isPresent() && others.isPresent() && !couchdbs.equals(others)) {
      throw LectusException.badRequest("request body contains different usernames");
    }
    return checked(
        others
            .or(() -> couchdbs)
            .orElseThrow(() -> LectusException.badRequest("request body must contain a username")));
  }

  /** Returns the password; empty if there is none. */
  String password(byte[] body) {
    return member(body, "password").orElse("");
  }

  abstract Optional<String> member(byte[] body, String name);

  private static String checked(String name) {
    if (name.getBytes(StandardCharsets.UTF_8).length > LONGEST_NAME) {
      throw LectusException.badRequest(
          "A username has " + LONGEST_NAME + " bytes of UTF-8 at most.");
    }
    return name;
  }

  private static String text(JsonValue value) {
    if (value instanceof JsonValue.JsonString string) {
      return string.value();
    }
    throw LectusException.badRequest("A username is a string, and so is a password.");
  }
}
