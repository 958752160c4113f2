package lectus.feed;

/**
 * What one or more listeners of a tail are shown of it: those whose rows are the same. Each is
 * equal to itself alone.
 *
 * @see Sharing
 */
public final class View {
  private final Object shows;

  public View(Object shows) {
    this.shows = shows;
  }

  /** What {@link Sharing#view} said. */
  public Object shows() {
    return shows;
  }
}
