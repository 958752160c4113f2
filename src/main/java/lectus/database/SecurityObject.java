package lectus.database;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import lectus.database.UserContext.DatabaseRight;
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

  /** The names and roles of a security object's admins, or of its members. */
  public record Group(Set<String> names, Set<String> roles) {
    static final Group NOBODY_NAMED = new Group(Set.of(), Set.of());

    /** Of an object and of a place in a set, in bytes. */
    private static final int TEXT_OVERHEAD = 100;

    public Group {
      names = Set.copyOf(names);
      roles = Set.copyOf(roles);
    }

    /**
     * @throws LectusException {@code bad_request}
     */
    static Group of(JsonValue json) {
      if (!(json instanceof JsonValue.JsonObject group)) {
        throw LectusException.badRequest("admins or members must be a JSON list of strings");
      }
      return new Group(texts(group, "names"), texts(group, "roles"));
    }

    private static Set<String> texts(JsonValue.JsonObject group, String member) {
      JsonValue list = group.get(member).orElse(new JsonValue.JsonArray(List.of()));
      if (!(list instanceof JsonValue.JsonArray array)) {
        throw notStrings(member);
      }
      Set<String> texts = new HashSet<>();
      for (JsonValue element : array.elements()) {
        if (!(element instanceof JsonValue.JsonString text)) {
          throw notStrings(member);
        }
        texts.add(text.value());
      }
      return texts;
    }

    private static LectusException notStrings(String member) {
      return LectusException.badRequest(member + " must be a JSON list of strings");
    }

    /** Writes it as JSON, in an order that depends on nothing else. */
    void writeTo(JsonBuffer out) {
      write(names, out.ascii("{\"names\":["));
      write(roles, out.ascii("],\"roles\":["));
      out.ascii("]}");
    }

    private static void write(Set<String> texts, JsonBuffer out) {
      boolean first = true;
      for (String text : new TreeSet<>(texts)) {
        if (!first) {
          out.octet(',');
        }
        out.string(text);
        first = false;
      }
    }

    /** Returns those whom either names; if one names nobody, it does not count. */
    Group and(Group other) {
      Set<String> allNames = new HashSet<>(names);
      allNames.addAll(other.names);
      Set<String> allRoles = new HashSet<>(roles);
      allRoles.addAll(other.roles);
      return new Group(allNames, allRoles);
    }

    boolean isEmpty() {
      return names.isEmpty() && roles.isEmpty();
    }

    boolean contains(UserContext user) {
      return user.name().map(names::contains).orElse(false)
          || !Collections.disjoint(roles, user.roles());
    }

    long heapBytes() {
      return heapBytes(names) + heapBytes(roles);
    }

    private static long heapBytes(Set<String> texts) {
      return texts.stream().mapToLong(text -> TEXT_OVERHEAD + 2L * text.length()).sum();
    }
  }
}
