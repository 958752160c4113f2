package lectus.server;

import lectus.error.LectusError;

/** Where requests wait for their turn. For any thread. */
interface WaitingRoom {
  /** Answers the requests that have waited for too long. */
  void giveUpOverdue(LectusError why);

  /** Answers all requests that wait, and those that come from now on: they would wait in vain. */
  void refuse(LectusError why);

  /** Lets requests wait again. */
  void refuseNoMore();
}
