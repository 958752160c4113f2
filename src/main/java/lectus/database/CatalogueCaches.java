package lectus.database;

import lectus.metrics.Measured;
import lectus.metrics.Meters;

/** What a server remembers of databases. Each transaction makes sure that it still holds. */
public final class CatalogueCaches implements Measured {
  private final HandleCache handles = new HandleCache();
  private final ConfigurationCache glimpses;

  /**
   * @param glimpsesBytes memory for cached entries of databases that readers of many databases
   *     visit
   */
  public CatalogueCaches(long glimpsesBytes) {
    this.glimpses = new ConfigurationCache(glimpsesBytes);
  }

  /** Returns the number of databases in use lately. */
  public long openDatabases() {
    return handles.size();
  }

  HandleCache handles() {
    return handles;
  }

  ConfigurationCache glimpses() {
    return glimpses;
  }

  @Override
  public void describe(Meters meters) {
    handles.describe(meters);
    glimpses.describe(meters);
  }
}
