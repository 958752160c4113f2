package lectus.feed;

/** What a page of a tail has for one view. */
public sealed interface ViewPage<P extends ResumePoint<P>> {

  /**
   * Rows.
   *
   * @param rows one at least
   */
  record Shown<P extends ResumePoint<P>>(Rows<P> rows) implements ViewPage<P> {}

  /** It would cost the others too much: those who see this view read the page on their own. */
  record Crowded<P extends ResumePoint<P>>() implements ViewPage<P> {}

  /** What this view shows cannot be told. */
  record Failed<P extends ResumePoint<P>>(Throwable failure) implements ViewPage<P> {}
}
