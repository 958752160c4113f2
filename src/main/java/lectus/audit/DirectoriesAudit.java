package lectus.audit;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.directory.DirectoryLayer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.database.Catalogue;
import lectus.database.CatalogueSubspace;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.store.Awaiting;
import lectus.store.Store;

/**
 * Compares the directories of the directory layer with the catalogue: each life has exactly one.
 */
final class DirectoriesAudit {
  private final Reading reading;
  private final Store store;
  private final CatalogueSubspace entries;
  private final AuditReport report;
  private final DirectoryLayer directories = new DirectoryLayer();

  /** Instances whose directories have not been matched yet, listed before the catalogue is read. */
  private final Set<String> left;

  DirectoriesAudit(Reading reading, Store store, AuditReport report) {
    this.reading = reading;
    this.store = store;
    this.entries = new CatalogueSubspace(store.rootPrefix());
    this.report = report;
    this.left = new HashSet<>(reading.read(this::list));
  }

  private List<String> list(ReadTransaction tx) {
    List<String> all = path(Catalogue.DIRECTORY);
    return Awaiting.await(directories.exists(tx, all))
        ? Awaiting.await(directories.list(tx, all))
        : List.of();
  }

  /** Checks that a life has its directory, with the catalogue's prefix. */
  void check(DatabaseName name, CatalogueSubspace.Entry life) {
    left.remove(life.instance().hex());
    Optional<String> problem = reading.read(tx -> problem(tx, name, life.instance()));
    problem.ifPresent(it -> report.add(Texts.database(name.text()), it));
  }

  private Optional<String> problem(ReadTransaction tx, DatabaseName name, InstanceId instance) {
    byte[] value = Awaiting.await(tx.get(entries.key(name.text())));
    if (value == null || !entries.entry(value).instance().equals(instance)) {
      return Optional.empty(); // deleted meanwhile
    }
    List<String> path = path(Catalogue.directoryOf(instance));
    if (!Awaiting.await(directories.exists(tx, path))) {
      return Optional.of("the directory of its life " + instance + " is missing");
    }
    byte[] prefix = Awaiting.await(directories.open(tx, path)).getKey();
    return Arrays.equals(prefix, entries.entry(value).prefix())
        ? Optional.empty()
        : Optional.of("its prefix in the catalogue is not the directory layer's");
  }

  /** Reports the directories that belong to no database. */
  void checkLeft() {
    for (String instance : left) {
      List<String> path = path(Catalogue.directoryOf(new InstanceId(instance)));
      if (reading.read(tx -> Awaiting.await(directories.exists(tx, path)))) {
        report.add("the store", "a directory is left of the life " + instance + " of no database");
      }
    }
  }

  private List<String> path(List<String> belowRoot) {
    List<String> path = new ArrayList<>(store.directory().getPath());
    path.addAll(belowRoot);
    return path;
  }
}
