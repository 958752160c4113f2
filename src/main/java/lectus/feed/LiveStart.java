package lectus.feed;

/**
 * A source, and where one listener begins in it.
 *
 * @param from what {@code since} said, looked up in the store where it said {@code now}
 */
public record LiveStart<P extends ResumePoint<P>>(LiveSource<P> source, P from) {

  /** The same up to and with a bound, behind which the source is over. */
  public LiveStart<P> until(P bound) {
    return new LiveStart<>(new BoundedSource<>(source, bound), from);
  }
}
