package lectus.http.auth;

import java.util.Optional;
import lectus.database.UserContext;
import lectus.database.UserContext.DatabaseRight;
import lectus.error.LectusException;

/** What a request needs, with CouchDB's words for whoever lacks it. */
enum RequiredRight {
  /** Nothing. */
  NONE,

  /** A log-in. */
  USER {
    @Override
    Optional<LectusException> refusal(UserContext user) {
      return user.name().isPresent()
          ? Optional.empty()
          : Optional.of(LectusException.unauthorized("You are not an authenticated user"));
    }
  },

  /** To read figures of the server. */
  METRICS {
    @Override
    Optional<LectusException> refusal(UserContext user) {
      return user.roles().contains(METRICS_ROLE)
          ? Optional.empty()
          : Optional.of(
              LectusException.unauthorized("You are not a server admin or read-only metrics user"));
    }
  },

  /** To do everything. */
  SERVER_ADMIN {
    @Override
    Optional<LectusException> refusal(UserContext user) {
      return Optional.of(LectusException.unauthorized("You are not a server admin."));
    }
  },

  /** To read the database, and to write documents that are no design documents. */
  MEMBER {
    @Override
    Optional<DatabaseRight> ofDatabase() {
      return Optional.of(DatabaseRight.MEMBER);
    }
  },

  /** To compact the database, or to have its views cleaned up. */
  CARETAKER {
    @Override
    Optional<DatabaseRight> ofDatabase() {
      return Optional.of(DatabaseRight.ADMIN);
    }

    @Override
    LectusException refusalOfMember(UserContext user) {
      return LectusException.unauthorized("You are not a server or db admin.");
    }
  },

  /** To write design documents and settings of the database. */
  DATABASE_ADMIN {
    @Override
    Optional<DatabaseRight> ofDatabase() {
      return Optional.of(DatabaseRight.ADMIN);
    }
  };

  private static final String METRICS_ROLE = "_metrics";

  /** Why somebody who is no server admin may not do this, whatever the database says. */
  Optional<LectusException> refusal(UserContext user) {
    return Optional.empty();
  }

  /** Returns the right that is needed on the request's database. */
  Optional<DatabaseRight> ofDatabase() {
    return Optional.empty();
  }

  /** Why somebody may not do this whose right on the database does not suffice. */
  final LectusException refusal(UserContext user, DatabaseRight has) {
    return has == DatabaseRight.NONE
        ? new LectusException(user.notMember())
        : refusalOfMember(user);
  }

  LectusException refusalOfMember(UserContext user) {
    return new LectusException(user.notAdmin());
  }
}
