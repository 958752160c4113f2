package lectus.http.live;

/** What a listener is about. */
enum ListenerState {
  /** A page is being read on a reader's thread. */
  READING,
  WAITING_FOR_ROOM,
  /** The store does not answer. */
  WAITING_FOR_STORE,
  WAITING_FOR_NEWS,
  /** The feed is over, except for the count of what follows. */
  ENDING,
  CLOSED
}
