package lectus.database;

import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import lectus.error.LectusError;
import lectus.json.JsonBuffer;

/**
 * Who asks, CouchDB's {@code userCtx}.
 *
 * @param name empty for somebody who did not log in
 */
public record UserContext(Optional<String> name, Set<String> roles) {
  /** The role of those who may do everything on this server. Nobody can give it to a user. */
  public static final String SERVER_ADMIN = "_admin";

  /** Somebody who did not log in. */
  public static final UserContext ANONYMOUS = new UserContext(Optional.empty(), Set.of());

  /** Everybody, on a server that has no admin and trusts whoever reaches it. */
  public static final UserContext ADMIN_PARTY =
      new UserContext(Optional.empty(), Set.of(SERVER_ADMIN));

  /** The server itself, which may do everything in its own name. */
  public static final UserContext SERVER =
      new UserContext(Optional.empty(), Set.of(SERVER_ADMIN, "_server"));

  public UserContext {
    roles = Set.copyOf(roles);
  }

  public static UserContext named(String name, Set<String> roles) {
    return new UserContext(Optional.of(name), roles);
  }

  /** Returns CouchDB's answer to somebody who is no member of a database. */
  public LectusError notMember() {
    return name.isPresent()
        ? new LectusError.Forbidden("You are not allowed to access this db.")
        : new LectusError.Unauthorized("You are not authorized to access this db.");
  }

  /** Returns CouchDB's answer to somebody who is no admin of a database. */
  public LectusError notAdmin() {
    String reason = "You are not a db or server admin.";
    return name.isPresent()
        ? new LectusError.Forbidden(reason)
        : new LectusError.Unauthorized(reason);
  }

  public boolean isServerAdmin() {
    return roles.contains(SERVER_ADMIN);
  }

  /** Returns CouchDB's {@code userCtx}, as functions of design documents see it. */
  public byte[] json(DatabaseName db) {
    JsonBuffer out = new JsonBuffer(128).ascii("{\"db\":").string(db.text()).ascii(",\"name\":");
    name.ifPresentOrElse(out::string, out::nil);
    return out.ascii(",\"roles\":").strings(new TreeSet<>(roles)).octet('}').toBytes();
  }

  /** What somebody may do with one database, the least first. */
  public enum DatabaseRight {
    NONE,
    /** May read, and write documents that are no design documents. */
    MEMBER,
    /** May also write design documents and change the database's settings. */
    ADMIN;

    public boolean includes(DatabaseRight other) {
      return compareTo(other) >= 0;
    }
  }

  /**
   * As whom a client was let in, and for how long. It ends earlier when the account changes.
   *
   * @param until when it ends by itself, as a session or a token does; empty: never
   * @param salt of the account as it was then; empty if no account was looked at, as with a token
   */
  public record Session(UserContext user, Optional<Instant> until, Optional<String> salt) {

    /** Lets in somebody for good, whatever account changes. */
    public static Session of(UserContext user) {
      return new Session(user, Optional.empty(), Optional.empty());
    }
  }
}
