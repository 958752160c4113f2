package lectus.store.embedded.engine.read;

/**
 * A version and its current state, published to readers as one reference.
 *
 * @param version at or above the version that made {@code state}; idle time raises it
 */
public record Published(long version, StoreState state) {}
