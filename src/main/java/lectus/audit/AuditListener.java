package lectus.audit;

/** Is told of an audit while it runs, on the thread that runs it. */
public interface AuditListener {
  /** For whoever wants nothing but the report. */
  AuditListener SILENT =
      new AuditListener() {
        @Override
        public void found(Finding finding) {}

        @Override
        public void reached(String what, long count) {}
      };

  void found(Finding finding);

  /**
   * Called now and then.
   *
   * @param what what is being counted
   * @param count how many of it were looked at so far
   */
  void reached(String what, long count);
}
