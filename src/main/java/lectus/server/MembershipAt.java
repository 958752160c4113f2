package lectus.server;

import java.util.List;
import java.util.function.Supplier;
import lectus.http.Membership;

/**
 * The members, as seen by a server.
 *
 * @param address at which it listens, as host:port; known before the first call
 */
public record MembershipAt(ClusterMembership cluster, Supplier<String> address)
    implements Membership {
  @Override
  public String self() {
    return cluster.name(address.get());
  }

  @Override
  public List<String> members() {
    return cluster.members(address.get());
  }
}
