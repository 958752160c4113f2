package lectus.server;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.feed.DatabaseEvents.Listener;
import lectus.feed.TouchedShards;

/**
 * Those on this server who listen to one life of a database. What was heard before is not told
 * again: whoever listens now was told, or began to listen afterwards and finds it when it reads.
 */
final class Audience {
  private final DatabaseHandle database;
  private final Set<Listener> listeners = ConcurrentHashMap.newKeySet();
  private final AtomicReference<Sequence> heard = new AtomicReference<>();

  /**
   * @param database as it was when somebody began to listen
   */
  Audience(DatabaseHandle database) {
    this.database = database;
  }

  DatabaseHandle database() {
    return database;
  }

  void add(Listener listener) {
    listeners.add(listener);
  }

  /** Whether nobody is left. */
  boolean remove(Listener listener) {
    listeners.remove(listener);
    return listeners.isEmpty();
  }

  /**
   * Whether this was news. Of single shards something earlier may still be told: events come in any
   * order.
   */
  boolean updated(Sequence highest, TouchedShards shards) {
    Sequence before = heard.getAndAccumulate(highest, Audience::higher);
    boolean news = before == null || before.compareTo(highest) < 0;
    if (news || !shards.ids().isEmpty()) {
      listeners.forEach(listener -> listener.updated(highest, shards));
    }
    return news;
  }

  /** The highest sequence that was told. */
  Optional<Sequence> heard() {
    return Optional.ofNullable(heard.get());
  }

  /**
   * A look found the database here. What was heard before the look began and is higher still cannot
   * be true: whoever told it made everybody deaf for what lies below.
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
