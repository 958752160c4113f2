package lectus.changes.page;

/**
 * The rows that one or more listeners of a tail see: listeners with the same rows share a view.
 * Compared by identity.
 *
 * @see Sharing
 */
public final class View {
  private final Object shows;

  public View(Object shows) {
    this.shows = shows;
  }

  /** Returns {@link Sharing#view}. */
  public Object shows() {
    return shows;
  }
}
