package lectus.store;

/**
 * Told by a thread, before it goes on, that it may have to wait for the store. A server has none.
 * The tests have one, found as a service, which objects to threads that serve many clients.
 */
public interface WaitListener {
  void mayWait();
}
