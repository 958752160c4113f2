package lectus.server;

import lectus.database.InstanceId;
import lectus.database.Sequence;

/** What other servers are told. For any thread. */
interface Announcements {
  /** Of a server that has no others beside it. */
  Announcements TO_NOBODY =
      new Announcements() {
        @Override
        public void created(InstanceId instance) {}

        @Override
        public void updated(InstanceId instance, Sequence highest) {}

        @Override
        public void deleted(InstanceId instance) {}

        @Override
        public void flush() {}
      };

  void created(InstanceId instance);

  /**
   * @param highest the highest sequence of a commit, which need not be the highest so far
   */
  void updated(InstanceId instance, Sequence highest);

  void deleted(InstanceId instance);

  /** Waits until what was announced is on its way, but not for long. */
  void flush();
}
