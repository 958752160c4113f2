package lectus.store.embedded.engine.commit;

/** When a commit counts as done. */
public enum Durability {
  /** The write-ahead log is on disk before a commit is acknowledged. */
  SYNC,

  /**
   * The log is written but never synced: a power loss loses acknowledged commits. For tests only.
   */
  SKIP_SYNC
}
