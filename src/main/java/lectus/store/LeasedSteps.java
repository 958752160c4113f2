package lectus.store;

/**
 * Work in the background, done in steps. Every server tries; each piece is done by the one that
 * holds its {@link Lease}. Used by one thread.
 */
public interface LeasedSteps {
  /**
   * Takes the next step.
   *
   * @return true if another one is to follow at once; false if there is nothing to do now, or
   *     another server does it
   */
  boolean step();

  /** Releases the leases, so that another server can go on at once. No step follows. */
  void giveBack();
}
