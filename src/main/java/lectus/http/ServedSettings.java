package lectus.http;

import java.util.Map;
import java.util.Optional;
import lectus.account.AccountSettings;
import lectus.database.Catalogue.DatabaseSettings;
import lectus.database.LiveSettings;
import lectus.database.SettingsSubspace.SettingName;
import lectus.document.edit.DocumentParser.DocumentLimits;

/**
 * The settings that may change while a server runs, among others.
 *
 * @param relocationBytesPerSecond at most, of each database that is moved elsewhere; 0: any
 * @param texts what the store says and is in force, as it was written
 */
public record ServedSettings(
    HttpSettings http,
    DocumentLimits documents,
    AccountSettings accounts,
    DatabaseSettings databases,
    JobSettings jobs,
    long relocationBytesPerSecond,
    Map<SettingName, String> texts) {
  public ServedSettings {
    texts = Map.copyOf(texts);
  }

  /**
   * How the replications that documents describe take turns, as CouchDB's section {@code
   * replicator} says.
   *
   * @param maxJobs that run at a time
   * @param intervalMillis after which those that run make room for those that wait
   * @param maxChurn how many of them
   * @param maxHistory events of a job that are kept
   * @param healthSeconds after which a run that fails counts as having gone well before
   * @param updatesDocuments whether a document is told when its replication begins and fails, too
   */
  public record JobSettings(
      int maxJobs,
      long intervalMillis,
      int maxChurn,
      int maxHistory,
      int healthSeconds,
      boolean updatesDocuments) {}

  /**
   * The settings that may change while a server runs.
   *
   * @param live what is in force
   * @param plan which they are
   */
  public record ChangeableSettings(LiveSettings<ServedSettings> live, SettingsPlan plan) {}

  /** Which settings may be changed while a server runs, and what it then runs with. */
  public interface SettingsPlan {
    /**
     * Returns what to run with.
     *
     * @param stored the store's values; one that cannot be read is empty. A value that is of no use
     *     leaves the configuration's in force, or the one that is safe.
     */
    ServedSettings with(Map<SettingName, Optional<String>> stored);

    /** Returns the name under which a setting is stored; empty if it cannot be changed. */
    Optional<SettingName> nameOf(SettingName name);

    /**
     * @param name as {@link #nameOf} returns it
     * @throws lectus.error.LectusException {@code bad_request}: it does not take this value
     */
    void check(SettingName name, String text);
  }
}
