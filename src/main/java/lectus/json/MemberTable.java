package lectus.json;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The members of one object so far, to find those that a later one replaces. */
final class MemberTable {
  /**
   * Up to this number a linear search beats a map. The map's buckets withstand adversarial names.
   */
  private static final int SMALL = 16;

  private final List<Member> members = new ArrayList<>(SMALL);
  private Map<String, Member> byName;

  /** Returns the member of this name; adds it if it is new. */
  Member member(String name) {
    if (byName != null) {
      return byName.computeIfAbsent(name, Member::new);
    }
    int hash = name.hashCode();
    for (int i = 0; i < members.size(); i++) {
      Member member = members.get(i);
      if (member.name.hashCode() == hash && member.name.equals(name)) {
        return member;
      }
    }
    return add(new Member(name));
  }

  void clear() {
    members.clear();
    byName = null;
  }

  private Member add(Member member) {
    members.add(member);
    if (members.size() > SMALL) {
      byName = new HashMap<>();
      members.forEach(m -> byName.put(m.name, m));
    }
    return member;
  }
}
