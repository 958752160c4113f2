package lectus.store.embedded.engine;

/**
 * What readers are handed: a version and the state that is current at it, always as one reference.
 *
 * @param version at or above the version that made {@code state}; idle time raises it
 */
record Published(long version, StoreState state) {}
