package lectus.feed.many;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import lectus.access.UserContext;

/**
 * What the users of a server see, one for each user who reads, as long as he reads. Thread-safe.
 */
final class VisibleByUser {
  private final CandidateMemory memory;
  private final VisibleDatabases everything;
  private final Cache<UserContext, VisibleDatabases> byUser =
      Caffeine.newBuilder().weakValues().executor(Runnable::run).build();

  VisibleByUser(CandidateMemory memory) {
    this.memory = memory;
    this.everything = new VisibleDatabases(UserContext.SERVER, memory);
  }

  VisibleDatabases of(UserContext user) {
    return user.isServerAdmin()
        ? everything
        : byUser.get(user, it -> new VisibleDatabases(it, memory));
  }
}
