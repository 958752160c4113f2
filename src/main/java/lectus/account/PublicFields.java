package lectus.account;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;

/**
 * The fields of users' documents that everybody may read who may read the database, CouchDB's
 * {@code public_fields}. What is stored of a password is never among them.
 */
public record PublicFields(List<String> names) {
  private static final Set<String> SECRET =
      Set.of("password", "password_sha", "derived_key", "salt");

  public PublicFields {
    names = List.copyOf(names);
  }

  public boolean isEmpty() {
    return names.isEmpty();
  }

  /**
   * Returns what others see of a user's document, metadata included, but no attachments.
   *
   * @return empty if that is none of its fields; then they do not see that there is one
   */
  public Optional<JsonBuffer> shownOf(byte[] document) {
    Map<String, JsonValue> shown =
        new LinkedHashMap<>(((JsonObject) JsonValue.parse(document)).members());
    shown.keySet().removeIf(name -> !isMetadata(name) && !isPublic(name));
    if (shown.keySet().stream().allMatch(PublicFields::isMetadata)) {
      return Optional.empty();
    }
    JsonBuffer out = new JsonBuffer(document.length);
    new JsonObject(shown).writeTo(out);
    return Optional.of(out);
  }

  /** No member of a body begins like that. */
  private static boolean isMetadata(String name) {
    return name.startsWith("_") && !name.equals("_attachments");
  }

  private boolean isPublic(String name) {
    return names.contains(name) && !SECRET.contains(name);
  }
}
