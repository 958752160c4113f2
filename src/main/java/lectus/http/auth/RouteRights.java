package lectus.http.auth;

import static lectus.http.auth.RequiredRight.CARETAKER;
import static lectus.http.auth.RequiredRight.DATABASE_ADMIN;
import static lectus.http.auth.RequiredRight.MEMBER;
import static lectus.http.auth.RequiredRight.METRICS;
import static lectus.http.auth.RequiredRight.NONE;
import static lectus.http.auth.RequiredRight.SERVER_ADMIN;
import static lectus.http.auth.RequiredRight.USER;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import lectus.document.DocumentId;
import lectus.http.message.Method;

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
  private static final Map<String, RequiredRight> AT_TOP =
      Map.of(
          "_up", NONE,
          "_uuids", NONE,
          "_session", NONE,
          "_stats", NONE,
          // Each subscription has its own rights.
          "_changes", NONE,
          "_replicate", USER);

  /** Pages, which anybody may load; what they ask for is another matter. */
  private static final Set<String> PAGES = Set.of("_utils", "_example", "_lectus");

  /** In a database of the system. */
  private static final Set<String> LISTS_OF_DOCUMENTS =
      Set.of("_all_docs", "_changes", "_feeds", "_find");

  private static final Set<String> LISTS_OF_DATABASES = Set.of("_all_dbs", "_dbs_info");

  private static final Set<String> FIGURES = Set.of("_stats", "_system", "_prometheus");

  /** Paths below a database for which being its member does not suffice, whatever the method. */
  private static final Map<String, RequiredRight> IN_DATABASE =
      Map.of(
          "_compact", CARETAKER,
          "_view_cleanup", CARETAKER,
          "_sync_shards", SERVER_ADMIN,
          "_purge", SERVER_ADMIN,
          "_purged_infos_limit", SERVER_ADMIN);

  /** Settings that every member may read. */
  private static final Set<String> SETTINGS = Set.of("_security", "_revs_limit", "_auto_purge");

  private final BooleanSupplier onlyAdminsListDatabases;

  RouteRights(BooleanSupplier onlyAdminsListDatabases) {
    this.onlyAdminsListDatabases = onlyAdminsListDatabases;
  }

  /**
   * @param path the decoded names of the request's path
   */
  RequiredRight of(Method method, List<String> path) {
    if (path.isEmpty() || path.get(0).equals("favicon.ico")) {
      return NONE;
    }
    String top = path.get(0);
    if (SYSTEM_DATABASES.contains(top)) {
      return ofSystemDatabase(method, path);
    }
    return top.charAt(0) == OF_SERVER ? ofServer(method, path) : ofDatabase(method, path);
  }

  private RequiredRight ofServer(Method method, List<String> path) {
    String top = path.get(0);
    if (LISTS_OF_DATABASES.contains(top)) {
      return onlyAdminsListDatabases.getAsBoolean() ? SERVER_ADMIN : NONE;
    }
    if (PAGES.contains(top)) {
      return isReading(method) ? NONE : SERVER_ADMIN;
    }
    if (top.equals("_node") && path.size() > 2 && FIGURES.contains(path.get(2))) {
      return METRICS;
    }
    return path.size() == 1 ? AT_TOP.getOrDefault(top, SERVER_ADMIN) : SERVER_ADMIN;
  }

  /** Lists would show users to each other, and replications' passwords to everybody. */
  private static RequiredRight ofSystemDatabase(Method method, List<String> path) {
    boolean isList = path.size() > 1 && LISTS_OF_DOCUMENTS.contains(path.get(1));
    return isList ? SERVER_ADMIN : ofDatabase(method, path);
  }

  private static RequiredRight ofDatabase(Method method, List<String> path) {
    if (path.size() == 1) {
      return method == Method.PUT || method == Method.DELETE ? SERVER_ADMIN : MEMBER;
    }
    String name = path.get(1);
    RequiredRight known = IN_DATABASE.get(name);
    if (known != null) {
      return known;
    }
    if (method == Method.PUT && SETTINGS.contains(name)) {
      return DATABASE_ADMIN;
    }
    if (isReshard(method, path)) {
      return SERVER_ADMIN;
    }
    boolean isDefinition = isDesign(name) || name.equals("_feeds");
    return isDefinition && isWriting(method) ? DATABASE_ADMIN : MEMBER;
  }

  /** CouchDB's is {@code /_reshard}. */
  private static boolean isReshard(Method method, List<String> path) {
    return method == Method.PUT
        && path.size() == 3
        && path.get(1).equals("_changes")
        && path.get(2).equals("_meta");
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
}
