package lectus.account;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import lectus.access.UserContext;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/**
 * The security object of a user's own database, as JSON: it names the user among the admins and the
 * members. Other names, and other members of the object, remain.
 */
final class UserDatabaseSecurity {
  private static final JsonObject NONE = new JsonObject(Map.of());
  private static final JsonArray NOBODY = new JsonArray(List.of());

  private UserDatabaseSecurity() {}

  /** Returns the object with the user among the admins and the members. */
  static byte[] admitting(String user, byte[] security) {
    return changed(security, user, UserDatabaseSecurity::added);
  }

  /** Returns the object without the user. */
  static byte[] without(String user, byte[] security) {
    return changed(security, user, UserDatabaseSecurity::removed);
  }

  private interface ChangeOfNames {
    List<JsonValue> of(List<JsonValue> names, JsonValue user);
  }

  /** Changes the names of the admins and of the members; other members of the object remain. */
  private static byte[] changed(byte[] security, String user, ChangeOfNames change) {
    if (!(JsonValue.parse(security) instanceof JsonObject object)) {
      return security;
    }
    Map<String, JsonValue> members = new LinkedHashMap<>(object.members());
    for (String group : List.of("admins", "members")) {
      JsonObject former =
          object.get(group).orElse(NONE) instanceof JsonObject stored ? stored : NONE;
      List<JsonValue> names = change.of(namesOf(former), new JsonString(user));
      if (!names.equals(namesOf(former))) {
        members.put(group, named(former, names));
      }
    }
    return members.equals(object.members()) ? security : bytes(new JsonObject(members));
  }

  private static List<JsonValue> namesOf(JsonObject group) {
    return group.get("names").orElse(NOBODY) instanceof JsonArray names
        ? names.elements()
        : List.of();
  }

  /** Members that name nobody would be everybody, so a group of nobody is left to server admins. */
  private static JsonObject named(JsonObject group, List<JsonValue> names) {
    Map<String, JsonValue> changed = new LinkedHashMap<>(group.members());
    changed.put("names", new JsonArray(names));
    boolean hasRoles =
        group.get("roles").orElse(NOBODY) instanceof JsonArray roles && !roles.elements().isEmpty();
    if (names.isEmpty() && !hasRoles) {
      JsonValue admins = new JsonString(UserContext.SERVER_ADMIN);
      changed.put("roles", new JsonArray(List.of(admins)));
    }
    return new JsonObject(changed);
  }

  private static byte[] bytes(JsonObject object) {
    JsonBuffer out = new JsonBuffer(256);
    object.writeTo(out);
    return out.toBytes();
  }

  private static List<JsonValue> added(List<JsonValue> names, JsonValue user) {
    return names.contains(user) ? names : Stream.concat(names.stream(), Stream.of(user)).toList();
  }

  private static List<JsonValue> removed(List<JsonValue> names, JsonValue user) {
    return names.stream().filter(name -> !name.equals(user)).toList();
  }
}
