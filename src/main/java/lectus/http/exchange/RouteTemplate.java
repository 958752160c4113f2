package lectus.http.exchange;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A kind of request target. There are few, and the names of databases and documents are not among
 * them.
 *
 * @param number from 0 on, without gaps
 * @param text as it is shown
 */
public record RouteTemplate(int number, String text) {
  private static final List<RouteTemplate> ROUTES = new ArrayList<>();

  private static final RouteTemplate OTHER = add("other");
  private static final RouteTemplate ROOT = add("/");
  private static final RouteTemplate DATABASE = add("/{db}");
  private static final RouteTemplate DOCUMENT = add("/{db}/{docid}");
  private static final RouteTemplate ATTACHMENT = add("/{db}/{docid}/{attachment}");

  /** Queries of views, of partitions, too. */
  public static final RouteTemplate VIEW = add("/{db}/_design/{ddoc}/_view/{view}");

  private static final Map<String, RouteTemplate> AT_TOP =
      below(
          "/",
          "_up",
          "_uuids",
          "_session",
          "_all_dbs",
          "_dbs_info",
          "_deleted_dbs",
          "_relocations",
          "_db_updates",
          "_changes",
          "_active_tasks",
          "_membership",
          "_cluster_setup",
          "_node",
          "_scheduler",
          "_replicate",
          "_utils",
          "_example",
          "_lectus");

  private static final Map<String, RouteTemplate> IN_DATABASE =
      below(
          "/{db}/",
          "_all_docs",
          "_bulk_docs",
          "_bulk_get",
          "_changes",
          "_compact",
          "_design",
          "_design_docs",
          "_ensure_full_commit",
          "_explain",
          "_feeds",
          "_find",
          "_image",
          "_index",
          "_local",
          "_local_docs",
          "_missing_revs",
          "_partition",
          "_purge",
          "_revs_diff",
          "_revs_limit",
          "_security",
          "_view_cleanup");

  private static final List<String> SYSTEM_DATABASES =
      List.of("_users", "_replicator", "_global_changes");

  /** Returns how many there are. */
  static int count() {
    return ROUTES.size();
  }

  /** Returns the route of a request that could not be read. */
  public static RouteTemplate unknown() {
    return OTHER;
  }

  /**
   * @param path the decoded names of the request's path
   */
  public static RouteTemplate of(List<String> path) {
    if (path.isEmpty()) {
      return ROOT;
    }
    String top = path.get(0);
    if (isOfServer(top)) {
      return AT_TOP.getOrDefault(top, OTHER);
    }
    if (path.size() == 1) {
      return DATABASE;
    }
    String name = path.get(1);
    if (isSpecial(name)) {
      return isView(path) ? VIEW : IN_DATABASE.getOrDefault(name, OTHER);
    }
    return path.size() == 2 ? DOCUMENT : ATTACHMENT;
  }

  /** Returns the name of the database to which a path leads, whether it exists or not. */
  public static Optional<String> databaseOf(List<String> path) {
    return path.isEmpty() || isOfServer(path.get(0)) ? Optional.empty() : Optional.of(path.get(0));
  }

  private static boolean isOfServer(String top) {
    return isSpecial(top) && !SYSTEM_DATABASES.contains(top);
  }

  private static boolean isSpecial(String name) {
    return !name.isEmpty() && name.charAt(0) == '_';
  }

  /** A view's name is the last one, or followed by that of many queries at once. */
  private static boolean isView(List<String> path) {
    int design = path.get(1).equals("_partition") ? 3 : 1;
    return path.size() > design + 3
        && path.get(design).equals("_design")
        && path.get(design + 2).equals("_view");
  }

  private static Map<String, RouteTemplate> below(String prefix, String... names) {
    Map<String, RouteTemplate> routes = new HashMap<>();
    for (String name : names) {
      routes.put(name, add(prefix + name));
    }
    return routes;
  }

  private static RouteTemplate add(String text) {
    RouteTemplate route = new RouteTemplate(ROUTES.size(), text);
    ROUTES.add(route);
    return route;
  }
}
