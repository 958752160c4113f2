package lectus.http.socket;

/**
 * Tells a client that a subscription has caught up: at once, but not after every row of a busy
 * database; then the last notice comes within a second.
 */
final class CaughtUpNotice {
  private static final long INTERVAL_MILLIS = 1_000;

  private final ChangesSession session;
  private final Runnable say;
  private boolean news = true;
  private boolean reached;
  private boolean resting;
  private boolean cancelled;

  CaughtUpNotice(ChangesSession session, Runnable say) {
    this.session = session;
    this.say = say;
  }

  void rowsCame() {
    news = true;
    reached = false;
  }

  void reached() {
    reached = true;
    sayIfDue();
  }

  void cancel() {
    cancelled = true;
  }

  private void sayIfDue() {
    if (news && reached && !resting && !cancelled) {
      news = false;
      resting = true;
      session.afterMillis(INTERVAL_MILLIS, this::rested);
      say.run();
    }
  }

  private void rested() {
    resting = false;
    sayIfDue();
  }
}
