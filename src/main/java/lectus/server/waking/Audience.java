package lectus.server.waking;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.feed.DatabaseNotices.Listener;
import lectus.feed.TouchedShards;

/**
 * The listeners on this server of one life of a database. A sequence that was heard before is not
 * told again: each listener was told of it, or registered afterwards and finds it when it reads.
 */
final class Audience {
  private final DatabaseHandle db;
  private final Set<Listener> listeners = ConcurrentHashMap.newKeySet();
  private final AtomicReference<Sequence> heard = new AtomicReference<>();

  /**
   * @param db as it was when somebody began to listen
   */
  Audience(DatabaseHandle db) {
    this.db = db;
  }

  DatabaseHandle db() {
    return db;
  }

  void add(Listener listener) {
    listeners.add(listener);
  }

  /** Returns whether no listener is left. */
  boolean remove(Listener listener) {
    listeners.remove(listener);
    return listeners.isEmpty();
  }

  /**
   * Returns whether this was news. Listeners of single shards may still be told of an earlier
   * sequence: events come in any order.
   */
  boolean updated(Sequence highest, TouchedShards shards) {
    Sequence before = heard.getAndAccumulate(highest, Audience::higher);
    boolean news = before == null || before.compareTo(highest) < 0;
    if (news || !shards.ids().isEmpty()) {
      listeners.forEach(listener -> listener.updated(highest, shards));
    }
    return news;
  }

  /** Returns the highest sequence that was told. */
  Optional<Sequence> heard() {
    return Optional.ofNullable(heard.get());
  }

  /**
   * Notes that a poll found the database at this sequence. What was heard before the poll began and
   * is higher cannot be true: it would keep listeners deaf to everything below.
   *
   * @return whether this was news
   */
  boolean found(Optional<Sequence> heardBefore, Sequence highest) {
    if (heardBefore.isEmpty() || heardBefore.get().compareTo(highest) <= 0) {
      return updated(highest, TouchedShards.ANY);
    }
    Sequence untrue = heardBefore.get();
    heard.compareAndSet(untrue, highest);
    listeners.forEach(listener -> listener.corrected(untrue, highest));
    return true;
  }

  private static Sequence higher(Sequence known, Sequence told) {
    return known == null || known.compareTo(told) < 0 ? told : known;
  }

  void deleted() {
    listeners.forEach(Listener::deleted);
  }
}
