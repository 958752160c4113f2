package lectus.http.limits;

import lectus.error.LectusError;

/** The requests that wait for their turn. Thread-safe. */
public interface WaitingRequests {
  /** Answers the requests that have waited too long. */
  void giveUpOverdue(LectusError why);

  /** Answers all waiting requests, and those that come from now on: they would wait in vain. */
  void refuse(LectusError why);

  /** Lets requests wait again. */
  void refuseNoMore();
}
