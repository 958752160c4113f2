package lectus.store.embedded.engine;

/** The rows of a range that can hold none. */
final class EmptyCursor implements Cursor {
  static final EmptyCursor INSTANCE = new EmptyCursor();

  private EmptyCursor() {}

  @Override
  public boolean next() {
    return false;
  }

  @Override
  public byte[] key() {
    throw new IllegalStateException("the cursor is at no row");
  }

  @Override
  public byte[] value() {
    throw new IllegalStateException("the cursor is at no row");
  }

  @Override
  public void close() {}
}
