package lectus.changes.page;

/** The content of a tail's page for one view. */
public sealed interface ViewPage<P extends ResumePoint<P>> {

  /**
   * Rows of the view.
   *
   * @param rows at least one
   */
  record Shown<P extends ResumePoint<P>>(Rows<P> rows) implements ViewPage<P> {}

  /**
   * Producing the rows would cost the others too much: this view's listeners read the page
   * themselves.
   */
  record Crowded<P extends ResumePoint<P>>() implements ViewPage<P> {}

  /** The rows of this view cannot be determined. */
  record Failed<P extends ResumePoint<P>>(Throwable failure) implements ViewPage<P> {}
}
