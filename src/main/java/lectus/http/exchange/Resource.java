package lectus.http.exchange;

/** One kind of URL. */
public interface Resource {
  /**
   * Starts to answer, on the connection's event loop, which it must not block.
   *
   * @throws lectus.error.LectusException an error of the request, which the caller answers
   */
  void serve(Exchange exchange);
}
