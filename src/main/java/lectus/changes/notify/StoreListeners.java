package lectus.changes.notify;

import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import lectus.changes.page.DatabaseNotifications.StoreListener;
import lectus.changes.page.Registration;
import lectus.changes.page.WantedDatabases;
import lectus.database.DatabaseName;

/**
 * The listeners on this server to many databases, found by the name of one of them: by the whole
 * name, or by its prefix. Thread-safe.
 */
final class StoreListeners {
  private final Set<Member> all = ConcurrentHashMap.newKeySet();
  private final Map<DatabaseName, Set<Member>> byName = new ConcurrentHashMap<>();
  private final NavigableMap<String, Set<Member>> byHead = new ConcurrentSkipListMap<>();

  /** One registration, as opposed to another one of the same listener. */
  private static final class Member {
    private final WantedDatabases wanted;
    private final StoreListener listener;

    Member(WantedDatabases wanted, StoreListener listener) {
      this.wanted = wanted;
      this.listener = listener;
    }
  }

  Registration add(WantedDatabases wanted, StoreListener listener) {
    Member member = new Member(wanted, listener);
    all.add(member);
    wanted.names().forEach(name -> add(byName, name, member));
    wanted.heads().forEach(head -> add(byHead, head, member));
    return () -> remove(member);
  }

  private void remove(Member member) {
    all.remove(member);
    member.wanted.names().forEach(name -> remove(byName, name, member));
    member.wanted.heads().forEach(head -> remove(byHead, head, member));
  }

  private static <K> void add(Map<K, Set<Member>> index, K key, Member member) {
    index.compute(
        key,
        (same, known) -> {
          Set<Member> members = known == null ? ConcurrentHashMap.newKeySet() : known;
          members.add(member);
          return members;
        });
  }

  private static <K> void remove(Map<K, Set<Member>> index, K key, Member member) {
    index.computeIfPresent(
        key,
        (same, members) -> {
          members.remove(member);
          return members.isEmpty() ? null : members;
        });
  }

  boolean isEmpty() {
    return all.isEmpty();
  }

  Collection<StoreListener> all() {
    Set<StoreListener> listeners = noListeners();
    all.forEach(member -> listeners.add(member.listener));
    return listeners;
  }

  /** Returns the listeners to a database of this name, each once. */
  Collection<StoreListener> of(DatabaseName name) {
    Set<StoreListener> listeners = noListeners();
    byName.getOrDefault(name, Set.of()).forEach(member -> listeners.add(member.listener));
    String text = name.text();
    Map.Entry<String, Set<Member>> nearest = byHead.floorEntry(text);
    while (nearest != null) {
      int common = commonLength(nearest.getKey(), text);
      if (common < nearest.getKey().length()) {
        nearest = byHead.floorEntry(text.substring(0, common));
        continue;
      }
      nearest.getValue().stream()
          .filter(member -> member.wanted.others().test(name))
          .forEach(member -> listeners.add(member.listener));
      nearest = byHead.lowerEntry(nearest.getKey());
    }
    return listeners;
  }

  private static Set<StoreListener> noListeners() {
    return Collections.newSetFromMap(new IdentityHashMap<>());
  }

  private static int commonLength(String one, String other) {
    int most = Math.min(one.length(), other.length());
    int length = 0;
    while (length < most && one.charAt(length) == other.charAt(length)) {
      length++;
    }
    return length;
  }
}
