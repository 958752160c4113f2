package lectus.feed;

/**
 * A source, and where one listener begins in it.
 *
 * @param from what {@code since} said; {@code now} has been looked up in the store
 */
public record LiveStart<P extends ResumePoint<P>>(LiveSource<P> source, P from) {

  /** Returns the same start up to and including a bound, after which the source is over. */
  public LiveStart<P> until(P bound) {
    return new LiveStart<>(new BoundedSource<>(source, bound), from);
  }
}
