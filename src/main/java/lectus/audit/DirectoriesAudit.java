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
import lectus.store.Reads;
import lectus.store.Store;

/** The directories of the directory layer against the catalogue: each life has exactly its own. */
final class DirectoriesAudit {
  private final Reading reading;
  private final Store store;
  private final CatalogueSubspace entries;
  private final AuditReport report;
  private final DirectoryLayer directories = new DirectoryLayer();

  /** Instances whose directories nobody has asked for yet; listed before the catalogue is read. */
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
    return Reads.await(directories.exists(tx, all))
        ? Reads.await(directories.list(tx, all))
        : List.of();
  }

  /** Checks that a life of a database has the directory whose prefix the catalogue has. */
  void check(DatabaseName name, CatalogueSubspace.Entry life) {
    left.remove(life.instance().hex());
    Optional<String> problem = reading.read(tx -> problem(tx, name, life.instance()));
    problem.ifPresent(it -> report.add(Texts.database(name.text()), it));
  }

  private Optional<String> problem(ReadTransaction tx, DatabaseName name, InstanceId instance) {
    byte[] value = Reads.await(tx.get(entries.key(name.text())));
    if (value == null || !entries.entry(value).instance().equals(instance)) {
      return Optional.empty(); // deleted meanwhile
    }
    List<String> path = path(Catalogue.directoryOf(instance));
    if (!Reads.await(directories.exists(tx, path))) {
      return Optional.of("the directory of its life " + instance + " is missing");
    }
    byte[] prefix = Reads.await(directories.open(tx, path)).getKey();
    return Arrays.equals(prefix, entries.entry(value).prefix())
        ? Optional.empty()
        : Optional.of("the catalogue has another prefix than the directory layer");
  }

  /** Reports the directories that belong to no database. */
  void checkLeft() {
    for (String instance : left) {
      List<String> path = path(Catalogue.directoryOf(new InstanceId(instance)));
      if (reading.read(tx -> Reads.await(directories.exists(tx, path)))) {
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
