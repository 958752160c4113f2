package lectus.http.exchange;

/** One kind of URL. */
public interface Resource {
  /**
   * Starts to answer, on the connection's event loop, which it must not block.
   *
   * @throws lectus.error.LectusException what is wrong with the request; the caller answers it
   */
  void serve(Exchange exchange);
}
