package lectus.http.exchange;

/** Room for requests that share their connection with others. Thread-safe. */
public interface StreamQuota {
  StreamQuota UNLIMITED =
      new StreamQuota() {
        @Override
        public boolean take() {
          return true;
        }

        @Override
        public void free() {}
      };

  /** Returns whether there is room; if so, it has to be freed. */
  boolean take();

  void free();
}
