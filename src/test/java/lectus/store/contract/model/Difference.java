package lectus.store.contract.model;

/** The store did something else than the model. */
final class Difference extends RuntimeException {
  private static final long serialVersionUID = 1L;

  Difference(String what) {
    super(what);
  }
}
