package lectus.store.contract.model;

/** A transaction grew too old because the machine was slow: no fault of the store. */
final class TooSlow extends RuntimeException {
  private static final long serialVersionUID = 1L;
}
