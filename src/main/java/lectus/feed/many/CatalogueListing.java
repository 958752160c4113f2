package lectus.feed.many;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.Catalogue;
import lectus.database.DatabaseLife;
import lectus.database.DatabaseName;
import lectus.feed.PageTime;
import lectus.store.Awaiting;

/** Lists the existing databases of a set, a part in each transaction. */
final class CatalogueListing {
  private final DatabaseSet wanted;
  private final Catalogue catalogue;

  /** The names not listed yet. */
  private final List<DatabaseName> names;

  private final List<DatabasePattern> patterns;

  /** How far the first pattern has been listed. */
  private Optional<DatabaseName> listed = Optional.empty();

  private CatalogueListing(
      DatabaseSet wanted,
      Catalogue catalogue,
      List<DatabaseName> names,
      List<DatabasePattern> patterns) {
    this.wanted = wanted;
    this.catalogue = catalogue;
    this.names = new ArrayList<>(names);
    this.patterns = new ArrayList<>(patterns);
  }

  static CatalogueListing of(DatabaseSet wanted, Catalogue catalogue) {
    return new CatalogueListing(wanted, catalogue, wanted.names(), wanted.patterns());
  }

  /** Returns a listing without databases. */
  static CatalogueListing none(DatabaseSet wanted, Catalogue catalogue) {
    return new CatalogueListing(wanted, catalogue, List.of(), List.of());
  }

  boolean isDone() {
    return names.isEmpty() && patterns.isEmpty();
  }

  /**
   * Returns the next databases. One that several names or patterns match may come twice.
   *
   * @param limit maximum number of catalogue rows to read
   * @param time when it is up, the next transaction examines the remaining rows
   */
  List<DatabaseLife> next(ReadTransaction tx, int limit, PageTime time) {
    return names.isEmpty() ? nextMatching(tx, limit, time) : nextNamed(tx, limit);
  }

  private List<DatabaseLife> nextNamed(ReadTransaction tx, int limit) {
    List<DatabaseName> next = names.subList(0, Math.min(names.size(), limit));
    List<CompletableFuture<Optional<DatabaseLife>>> reading = new ArrayList<>(next.size());
    next.forEach(name -> reading.add(catalogue.life(tx, name)));
    List<DatabaseLife> lives =
        reading.stream().flatMap(life -> Awaiting.await(life).stream()).toList();
    next.clear();
    return lives;
  }

  private List<DatabaseLife> nextMatching(ReadTransaction tx, int limit, PageTime time) {
    List<DatabaseLife> lives = catalogue.lives(tx, patterns.get(0).head(), listed, limit);
    List<DatabaseLife> matching = new ArrayList<>();
    for (DatabaseLife life : lives) {
      if (wanted.contains(life.name())) {
        matching.add(life);
      }
      listed = Optional.of(life.name());
      if (time.isUp()) {
        return matching;
      }
    }
    if (lives.size() < limit) {
      patterns.remove(0);
      listed = Optional.empty();
    }
    return matching;
  }
}
