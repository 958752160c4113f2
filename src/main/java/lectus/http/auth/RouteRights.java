package lectus.http.auth;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lectus.database.UserContext;
import lectus.database.UserContext.DatabaseRight;
import lectus.document.DocumentId;
import lectus.error.LectusException;
import lectus.http.Method;

/**
 * Which right each request needs, as in CouchDB 3.5. What stands nowhere here needs the most: below
 * the server's own names a server admin, below a database's name a member.
 *
 * <p>Documents have rules of their own beside: design documents are written by a database's admins,
 * whatever the request, and users see only themselves.
 */
final class RouteRights {
  /** Names of the server itself begin with it, as do those of system databases. */
  private static final char OF_SERVER = '_';

  private static final Set<String> SYSTEM_DATABASES = Set.of("_users", "_replicator");

  /** The server's own paths that others than server admins may use, alone or with all below. */
  private static final Map<String, Needed> AT_TOP =
      Map.of(
          "_up", Needed.NONE,
          "_uuids", Needed.NONE,
          "_session", Needed.NONE,
          "_stats", Needed.NONE,
          // Each subscription has its own rights.
          "_changes", Needed.NONE,
          "_replicate", Needed.USER);

  /** Pages, which anybody may load; what they ask for is another matter. */
  private static final Set<String> PAGES = Set.of("_utils", "_example", "_lectus");

  /** In a database of the system. */
  private static final Set<String> LISTS_OF_DOCUMENTS =
      Set.of("_all_docs", "_changes", "_feeds", "_find");

  private static final Set<String> LISTS_OF_DATABASES = Set.of("_all_dbs", "_dbs_info");

  private static final Set<String> FIGURES = Set.of("_stats", "_system", "_prometheus");

  /** Paths below a database for which being its member does not suffice, whatever the method. */
  private static final Map<String, Needed> IN_DATABASE =
      Map.of(
          "_compact", Needed.CARETAKER,
          "_view_cleanup", Needed.CARETAKER,
          "_image", Needed.SERVER_ADMIN,
          "_sync_shards", Needed.SERVER_ADMIN,
          "_purge", Needed.SERVER_ADMIN,
          "_purged_infos_limit", Needed.SERVER_ADMIN);

  /** Settings that every member may read. */
  private static final Set<String> SETTINGS = Set.of("_security", "_revs_limit", "_auto_purge");

  private RouteRights() {}

  /**
   * @param path the decoded names of the request's path
   * @param onlyAdminsList whether lists of databases are for server admins
   */
  static Needed of(Method method, List<String> path, boolean onlyAdminsList) {
    if (path.isEmpty() || path.get(0).equals("favicon.ico")) {
      return Needed.NONE;
    }
    String top = path.get(0);
    if (SYSTEM_DATABASES.contains(top)) {
      return ofSystemDatabase(method, path);
    }
    return top.charAt(0) == OF_SERVER
        ? ofServer(method, path, onlyAdminsList)
        : ofDatabase(method, path);
  }

  private static Needed ofServer(Method method, List<String> path, boolean onlyAdminsList) {
    String top = path.get(0);
    if (LISTS_OF_DATABASES.contains(top)) {
      return onlyAdminsList ? Needed.SERVER_ADMIN : Needed.NONE;
    }
    if (PAGES.contains(top)) {
      return isReading(method) ? Needed.NONE : Needed.SERVER_ADMIN;
    }
    if (top.equals("_node") && path.size() > 2 && FIGURES.contains(path.get(2))) {
      return Needed.METRICS;
    }
    return path.size() == 1 ? AT_TOP.getOrDefault(top, Needed.SERVER_ADMIN) : Needed.SERVER_ADMIN;
  }

  /** Lists would show users to each other, and replications' passwords to everybody. */
  private static Needed ofSystemDatabase(Method method, List<String> path) {
    boolean isList = path.size() > 1 && LISTS_OF_DOCUMENTS.contains(path.get(1));
    return isList ? Needed.SERVER_ADMIN : ofDatabase(method, path);
  }

  private static Needed ofDatabase(Method method, List<String> path) {
    if (path.size() == 1) {
      return method == Method.PUT || method == Method.DELETE ? Needed.SERVER_ADMIN : Needed.MEMBER;
    }
    String name = path.get(1);
    Needed known = IN_DATABASE.get(name);
    if (known != null) {
      return known;
    }
    if (method == Method.PUT && SETTINGS.contains(name)) {
      return Needed.DATABASE_ADMIN;
    }
    if (isReshard(method, path)) {
      return Needed.SERVER_ADMIN;
    }
    boolean isDefinition = (isDesign(name) && !isUpdate(path)) || name.equals("_feeds");
    return isDefinition && isWriting(method) ? Needed.DATABASE_ADMIN : Needed.MEMBER;
  }

  /** CouchDB's is {@code /_reshard}. */
  private static boolean isReshard(Method method, List<String> path) {
    return method == Method.PUT
        && path.size() == 3
        && path.get(1).equals("_changes")
        && path.get(2).equals("_meta");
  }

  /** The function writes as its caller. */
  private static boolean isUpdate(List<String> path) {
    return path.size() > 3 && path.get(1).equals("_design") && path.get(3).equals("_update");
  }

  private static boolean isDesign(String name) {
    return name.equals("_design") || name.startsWith(DocumentId.DESIGN_PREFIX);
  }

  /** Whether a document is read, or its attachment; no definition. */
  static boolean readsDocument(Method method, List<String> path) {
    return isReading(method) && path.size() > 1 && !path.get(1).startsWith("_");
  }

  private static boolean isReading(Method method) {
    return method == Method.GET || method == Method.HEAD;
  }

  /** Whether the document that the path names is written; a copy has another one. */
  private static boolean isWriting(Method method) {
    return method == Method.PUT || method == Method.DELETE;
  }

  /** What a request needs, with CouchDB's words for whoever lacks it. */
  enum Needed {
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
                LectusException.unauthorized(
                    "You are not a server admin or read-only metrics user"));
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
}
