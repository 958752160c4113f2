package lectus.database;

import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

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

  /** Returns about how many bytes of memory it takes. */
  long heapBytes() {
    return heapBytes(names) + heapBytes(roles);
  }

  private static long heapBytes(Set<String> texts) {
    return texts.stream().mapToLong(text -> TEXT_OVERHEAD + 2L * text.length()).sum();
  }
}
