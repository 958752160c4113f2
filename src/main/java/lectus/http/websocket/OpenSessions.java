package lectus.http.websocket;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Set;

/** The sessions of one event loop, which an orderly stop ends. */
public final class OpenSessions {
  private final Set<ChangesSession> sessions = new HashSet<>();
  private boolean stopping;

  void add(ChangesSession session) {
    sessions.add(session);
    if (stopping) {
      session.stop();
    }
  }

  void remove(ChangesSession session) {
    sessions.remove(session);
  }

  /** Ends all sessions, and every one that begins from now on. */
  public void stop() {
    stopping = true;
    new ArrayList<>(sessions).forEach(ChangesSession::stop);
  }
}
