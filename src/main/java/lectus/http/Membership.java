package lectus.http;

import java.util.List;

/** The servers of the cluster. Thread-safe; never waits. */
public interface Membership {
  /** Returns this server's name; one of {@link #members}, unless the cluster has shut it out. */
  String self();

  /**
   * Returns the living members of the cluster, this server among them, sorted.
   *
   * @return names of the form lectus@host:port, each constant for a member's lifetime
   */
  List<String> members();
}
