package lectus.access;

import java.util.Optional;
import java.util.Set;
import lectus.error.LectusException;
import lectus.json.JsonValue;

/**
 * Who may use a database, as its {@code _security} says. Other members of the JSON object are kept
 * where it is stored, and mean nothing here.
 *
 * <p>As in CouchDB, server admins have every right, admins are members, and a database whose
 * members name nobody is everybody's.
 */
public record SecurityObject(Group admins, Group members) {
  /** What CouchDB 3 gives to a new database: only server admins may use it. */
  public static final SecurityObject ADMIN_ONLY =
      new SecurityObject(
          new Group(Set.of(), Set.of(UserContext.SERVER_ADMIN)),
          new Group(Set.of(), Set.of(UserContext.SERVER_ADMIN)));

  /** Everybody is a member, and only server admins are admins. */
  public static final SecurityObject EVERYBODY =
      new SecurityObject(Group.NOBODY_NAMED, Group.NOBODY_NAMED);

  /**
   * @throws LectusException {@code bad_request}: it is not JSON, or names and roles are not lists
   *     of texts
   */
  public static SecurityObject parse(byte[] json) {
    if (!(JsonValue.parse(json) instanceof JsonValue.JsonObject object)) {
      throw LectusException.badRequest("Request body must be a JSON object");
    }
    return new SecurityObject(
        group(object.get("admins")), group(object.get("members").or(() -> object.get("readers"))));
  }

  /**
   * Reads what is stored. Versions before this one stored any JSON object; one that says nothing
   * sensible lets nobody in but server admins.
   */
  public static SecurityObject ofStored(byte[] json) {
    try {
      return parse(json);
    } catch (LectusException malformed) {
      return ADMIN_ONLY;
    }
  }

  private static Group group(Optional<JsonValue> json) {
    return json.map(Group::of).orElse(Group.NOBODY_NAMED);
  }

  public DatabaseRight rightOf(UserContext user) {
    if (user.isServerAdmin() || admins.contains(user)) {
      return DatabaseRight.ADMIN;
    }
    return members.isEmpty() || members.contains(user) ? DatabaseRight.MEMBER : DatabaseRight.NONE;
  }

  /** Returns about how many bytes of memory it takes. */
  public long heapBytes() {
    return admins.heapBytes() + members.heapBytes();
  }
}
