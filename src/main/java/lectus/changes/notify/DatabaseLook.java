package lectus.changes.notify;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.changes.page.TailLookup;
import lectus.changes.page.TailLookup.DatabaseTail;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.database.Sequence;

/**
 * Reads the newest sequences of many databases in one transaction (RFC 003, Access Patterns), and
 * tells their listeners what no event has announced.
 */
public record DatabaseLook(
    TailLookup tails, ListenerRegistry listeners, UpdateAnnouncer announcer) {
  /** Returns whether a listener was told something new. */
  boolean at(Collection<DatabaseHandle> databases) {
    Map<InstanceId, Optional<Sequence>> heard = new HashMap<>();
    databases.forEach(it -> heard.put(it.instance(), listeners.heard(it.instance())));
    boolean news = false;
    List<DatabaseHandle> rest = List.copyOf(databases);
    while (!rest.isEmpty()) {
      List<DatabaseTail> seen = tails.read(rest);
      for (DatabaseTail tail : seen) {
        news |= tell(tail, heard.get(tail.instance()));
      }
      rest = rest.subList(seen.size(), rest.size());
    }
    return news;
  }

  private boolean tell(DatabaseTail tail, Optional<Sequence> heardBefore) {
    if (tail.isOver()) {
      announcer.foundDeleted(tail.instance());
      return true;
    }
    return tail.last()
        .filter(last -> announcer.found(tail.instance(), heardBefore, last))
        .isPresent();
  }
}
