package lectus.store.contract.model;

/** The store behaved differently from the model. */
final class Difference extends RuntimeException {
  private static final long serialVersionUID = 1L;

  Difference(String what) {
    super(what);
  }
}
