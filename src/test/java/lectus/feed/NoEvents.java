package lectus.feed;

import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;

/** For tests of readers that nobody has to wake. */
final class NoEvents implements DatabaseEvents {
  @Override
  public Registration listen(DatabaseHandle database, Listener listener) {
    return () -> {};
  }

  @Override
  public Registration listenToAll(StoreListener listener) {
    return () -> {};
  }

  @Override
  public void publishCreated(InstanceId instance) {}

  @Override
  public void publishDeleted(InstanceId instance) {}
}
