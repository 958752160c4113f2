package lectus.store.embedded.engine.read;

/** The cursor of a range that can hold no rows. */
final class EmptyCursor implements Cursor {
  static final EmptyCursor INSTANCE = new EmptyCursor();

  private EmptyCursor() {}

  @Override
  public boolean next() {
    return false;
  }

  @Override
  public byte[] key() {
    throw new IllegalStateException("The cursor is not at a row");
  }

  @Override
  public byte[] value() {
    throw new IllegalStateException("The cursor is not at a row");
  }

  @Override
  public void close() {}
}
