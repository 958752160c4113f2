package lectus.feed.many;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import lectus.access.UserContext;

/**
 * What the users of a server see, one for each user who reads, as long as he reads. Thread-safe.
 */
final class SightByUser {
  private final CandidateMemory memory;
  private final Sight everything;
  private final Cache<UserContext, Sight> byUser =
      Caffeine.newBuilder().weakValues().executor(Runnable::run).build();

  SightByUser(CandidateMemory memory) {
    this.memory = memory;
    this.everything = new Sight(UserContext.ADMIN_PARTY, memory);
  }

  Sight of(UserContext user) {
    return user.isServerAdmin() ? everything : byUser.get(user, it -> new Sight(it, memory));
  }
}
