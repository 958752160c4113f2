package lectus.image;

import java.time.InstantSource;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.image.ImageReading.Asked;
import lectus.store.Store;

/**
 * The images of one store's databases.
 *
 * @param requestsWait whether clients wait for work of this server
 */
public record Images(Store store, Catalogue catalogue, BooleanSupplier requestsWait) {

  /** Begins to read one. */
  public ImageReading read(DatabaseRequest database, Asked what) {
    return new ImageReading(
        store,
        catalogue,
        InstantSource.system(),
        database,
        what,
        requestsWait,
        store.tasks().begin("backup", database.name().text()));
  }

  /** Begins to store one as a database that is not there. */
  public ImageStoring store(DatabaseName name) {
    return new ImageStoring(
        store, catalogue, name, Optional.empty(), Optional.empty(), InstantSource.system());
  }

  /**
   * Drops a chain: no increment of it is possible any more.
   *
   * @return whether it was there
   */
  public boolean drop(DatabaseRequest database, String follower) {
    return ImageReading.drop(store, catalogue, database, follower);
  }
}
