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
import lectus.store.Reads;

/** Lists the databases of a set that exist, a part in each transaction. */
final class CatalogueListing {
  private final DatabaseSet wanted;
  private final Catalogue catalogue;

  /** What is not listed yet. */
  private final List<DatabaseName> names;

  private final List<DatabasePattern> patterns;

  /** How far the first of the patterns is listed. */
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

  /** One that has nothing to list. */
  static CatalogueListing none(DatabaseSet wanted, Catalogue catalogue) {
    return new CatalogueListing(wanted, catalogue, List.of(), List.of());
  }

  boolean isDone() {
    return names.isEmpty() && patterns.isEmpty();
  }

  /**
   * The next databases, of which one that has several reasons to be in the set may come twice.
   *
   * @param limit rows of the catalogue looked at at most
   * @param time when it is up, what is left of the rows is looked at by the next transaction
   */
  List<DatabaseLife> next(ReadTransaction tx, int limit, PageTime time) {
    return names.isEmpty() ? nextMatching(tx, limit, time) : nextNamed(tx, limit);
  }

  private List<DatabaseLife> nextNamed(ReadTransaction tx, int limit) {
    List<DatabaseName> next = names.subList(0, Math.min(names.size(), limit));
    List<CompletableFuture<Optional<DatabaseLife>>> reading = new ArrayList<>(next.size());
    next.forEach(name -> reading.add(catalogue.life(tx, name)));
    List<DatabaseLife> lives =
        reading.stream().flatMap(life -> Reads.await(life).stream()).toList();
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
