package lectus.changes.notify;

import lectus.changes.page.TouchedShards;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.Sequence;

/** The announcements to other servers. Thread-safe. */
public interface Announcements {
  /** For a server that stands alone. */
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

  /** Waits until the announcements are on their way, but not for long. */
  void flush();
}
