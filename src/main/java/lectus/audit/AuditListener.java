package lectus.audit;

import lectus.audit.AuditReport.Finding;

/** Receives the progress of an audit, on the thread that runs it. */
public interface AuditListener {
  /** Ignores progress. */
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
   * @param what the kind of thing being counted
   * @param count how many have been examined so far
   */
  void reached(String what, long count);
}
