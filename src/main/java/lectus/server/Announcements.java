package lectus.server;

import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.feed.TouchedShards;

/** What other servers are told. For any thread. */
interface Announcements {
  /** Of a server that has no others beside it. */
  Announcements TO_NOBODY =
      new Announcements() {
        @Override
        public void created(InstanceId instance, DatabaseName name) {}

        @Override
        public void updated(
            InstanceId instance, DatabaseName name, Sequence highest, TouchedShards shards) {}

        @Override
        public void deleted(InstanceId instance, DatabaseName name) {}

        @Override
        public void flush() {}
      };

  void created(InstanceId instance, DatabaseName name);

  /**
   * @param highest the highest sequence of a commit, which need not be the highest so far
   */
  void updated(InstanceId instance, DatabaseName name, Sequence highest, TouchedShards shards);

  void deleted(InstanceId instance, DatabaseName name);

  /** Waits until what was announced is on its way, but not for long. */
  void flush();
}
