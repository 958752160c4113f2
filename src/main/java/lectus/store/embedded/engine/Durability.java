package lectus.store.embedded.engine;

/** When a commit counts as done. */
public enum Durability {
  /** The write-ahead log is on disk before a commit is acknowledged. */
  SYNC,

  /**
   * The log is written and never synced: power loss loses acknowledged commits. For tests alone.
   */
  SKIP_SYNC
}
