package lectus.server;

import java.util.List;
import java.util.function.Supplier;
import lectus.http.Membership;

/**
 * The members as a server sees them.
 *
 * @param address at which it listens, as host:port; known before anybody asks
 */
record MembershipAt(Neighbours neighbours, Supplier<String> address) implements Membership {
  @Override
  public String self() {
    return neighbours.name(address.get());
  }

  @Override
  public List<String> members() {
    return neighbours.members(address.get());
  }
}
