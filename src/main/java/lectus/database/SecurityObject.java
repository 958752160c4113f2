package lectus.database;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
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

  /** Returns its admins and members as JSON, which {@link #ofStored} reads. */
  public String text() {
    JsonBuffer out = new JsonBuffer(128);
    admins.writeTo(out.ascii("{\"admins\":"));
    members.writeTo(out.ascii(",\"members\":"));
    return new String(out.octet('}').toBytes(), StandardCharsets.UTF_8);
  }

  /** Returns one that gives everybody the rights that either gives. */
  public SecurityObject or(SecurityObject other) {
    boolean isForEverybody = members.isEmpty() || other.members.isEmpty();
    return new SecurityObject(
        admins.and(other.admins), isForEverybody ? Group.NOBODY_NAMED : members.and(other.members));
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
