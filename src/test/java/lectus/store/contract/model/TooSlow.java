package lectus.store.contract.model;

/** A transaction grew too old on a slow machine, which is not the store's fault. */
final class TooSlow extends RuntimeException {
  private static final long serialVersionUID = 1L;
}
