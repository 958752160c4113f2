package lectus.http;

import java.util.List;

/** Who works together. For any thread; never waits. */
public interface Membership {
  /** This server's name; one of {@link #members}, unless the cluster has shut it out. */
  String self();

  /**
   * The living members of the cluster, this server among them, sorted.
   *
   * @return names of the form lectus@host:port, each the same for all of a member's life
   */
  List<String> members();
}
