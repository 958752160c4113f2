package lectus.http;

import io.vertx.core.Future;
import java.util.List;
import java.util.Map;

/** Asks other members of the cluster, on behalf of somebody whose rights were checked. */
public interface OtherMembers {
  /** There are none. */
  OtherMembers NONE =
      new OtherMembers() {
        @Override
        public Future<Answer> ask(String member, Question question) {
          return Future.failedFuture(new IllegalStateException("There is no " + member));
        }

        @Override
        public Future<Void> meet(String member) {
          return Future.failedFuture(new IllegalStateException("There is no " + member));
        }
      };

  /**
   * A request to one of a server's own resources.
   *
   * @param path names below the server's own, the resource's first
   * @param accept media types that are wanted; empty if anything will do
   */
  record Question(String method, List<String> path, String accept, byte[] body) {}

  /**
   * @param headers beside the type and the length
   */
  record Answer(int status, String type, Map<String, String> headers, byte[] body) {}

  /**
   * Asks a living member. The answer comes on the calling event loop.
   *
   * @return fails with nodedown (412) if it does not answer in time, with service_unavailable (503)
   *     if too many ask, with not_implemented (501) if it has another store
   */
  Future<Answer> ask(String member, Question question);

  /** Makes sure that a living member has this server's store; fails as {@link #ask} does. */
  Future<Void> meet(String member);

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
}
