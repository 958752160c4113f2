package lectus.http.api;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import lectus.document.DocumentId;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.HttpSettings;
import lectus.http.auth.AccessApi;
import lectus.http.changes.ChangesApi;
import lectus.http.changes.ChangesSession.OpenSessions;
import lectus.http.changes.LiveFeeds;
import lectus.http.document.DocumentApi;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.Services;

/** Finds the resource that a path names. */
final class Routes {
  /** CouchDB's top-level paths that Lectus does not implement. */
  private static final Set<String> MISSING_AT_TOP =
      Set.of("_reshard", "_search_analyze", "_nouveau_analyze", "_reload_query_servers");

  /** CouchDB's paths below a database that Lectus does not implement. */
  private static final Set<String> MISSING_IN_DATABASE =
      Set.of("_search_cleanup", "_nouveau_cleanup", "_time_seq", "_shards", "_sync_shards");

  /**
   * CouchDB's paths below a design document that Lectus does not implement; any other is an
   * attachment.
   */
  private static final Set<String> MISSING_IN_DESIGN =
      Set.of("_search", "_search_info", "_search_disk_size", "_nouveau", "_nouveau_info");

  /** Those of them that CouchDB 4 drops, and what does the same. */
  private static final Map<String, String> DROPPED_IN_DESIGN =
      Map.of(
          "_show",
          "Read the document, /{db}/{docid}, and format it where it is shown.",
          "_list",
          "Read the view, or /{db}/_find, and format the rows where they are shown.",
          "_rewrite",
          "A proxy in front of the server can rewrite paths.");

  private final Map<String, Resource> atTop = new HashMap<>();

  /** Resources that answer for everything below their names. */
  private final Map<String, Resource> trees;

  /** Resources that answer for everything below their names in a database. */
  private final Map<String, Resource> treesInDatabase;

  private final Map<String, Resource> inDatabase = new HashMap<>();

  /** Each has {@code /queries} below it. */
  private final Map<String, Resource> lists;

  private final Resource root;
  private final Resource database;
  private final Resource document;
  private final Resource attachment;
  private final Resource designInfo;
  private final Resource view;
  private final Resource update;
  private final Resource localDocument;
  private final Resource changesShards;
  private final Resource unusableName;

  Routes(
      Services services,
      HttpSettings settings,
      Supplier<HttpSettings> live,
      LiveFeeds feeds,
      OpenSessions sessions,
      AccessApi access) {
    ServerApi server = new ServerApi(services, settings);
    DatabaseApi databases = new DatabaseApi(services, access.guard());
    DocumentApi documents = new DocumentApi(services, live);
    ChangesApi changes = new ChangesApi(services, feeds);
    root = server::root;
    database = databases.database(documents::create);
    document = documents::document;
    attachment = documents::attachment;
    designInfo = documents::designInfo;
    view = documents.view();
    update = documents.update();
    localDocument = documents::localDocument;
    lists = documents.lists();
    changesShards = changes::shards;
    treesInDatabase = new HashMap<>(databases.trees(documents.inPartition()));
    treesInDatabase.put("_index", documents.indexes());
    inDatabase.putAll(documents.queries());
    treesInDatabase.computeIfPresent("_partition", (name, tree) -> documents.aboutMany(tree));
    unusableName = databases::unusableName;
    trees = server.trees();
    atTop.putAll(trees);
    atTop.putAll(server.atTop());
    atTop.putAll(databases.atTop());
    atTop.put("_session", access.session());
    atTop.put("_replicate", new ReplicationApi(services)::replicate);
    atTop.put("_uuids", documents::uuids);
    atTop.put("_changes", changes.socket(settings, sessions));
    atTop.put("_db_updates", changes::databaseUpdates);
    inDatabase.putAll(databases.inDatabase());
    inDatabase.putAll(documents.inDatabase());
    inDatabase.putAll(lists);
    inDatabase.put("_changes", changes.changes());
  }

  /**
   * @throws LectusException not_found, bad_request or not_implemented
   */
  Resource find(Exchange exchange) {
    return exchange.target().isUtf8From(0) ? find(exchange.target().segments()) : unusableName;
  }

  private Resource find(List<String> segments) {
    return switch (segments.size()) {
      case 0 -> root;
      case 1 -> atTop(segments.get(0));
      default -> below(segments);
    };
  }

  private Resource atTop(String name) {
    Resource known = atTop.get(name);
    if (known != null) {
      return known;
    }
    if (MISSING_AT_TOP.contains(name)) {
      throw missing("/" + name);
    }
    if (name.equals("favicon.ico")) {
      throw LectusException.notFound("missing");
    }
    return database;
  }

  private Resource below(List<String> segments) {
    String top = segments.get(0);
    String name = segments.get(1);
    Resource tree = trees.get(top);
    if (tree != null) {
      return tree;
    }
    if (atTop.containsKey(top)) {
      throw LectusException.notFound("missing");
    }
    if (MISSING_AT_TOP.contains(top)) {
      throw missing("/" + top);
    }
    if (name.charAt(0) != '_') {
      return segments.size() == 2 ? document : attachment;
    }
    return special(segments, name);
  }

  private Resource special(List<String> segments, String name) {
    boolean alone = segments.size() == 2;
    if (name.equals("_design") || name.equals("_local")) {
      return named(segments, name);
    }
    if (name.startsWith(DocumentId.LOCAL_PREFIX) && alone) {
      return localDocument(name.substring(DocumentId.LOCAL_PREFIX.length()));
    }
    if (name.startsWith(DocumentId.DESIGN_PREFIX) && !alone) {
      return attachment;
    }
    Resource known = inDatabase(segments, name);
    if (known != null) {
      return known;
    }
    if (MISSING_IN_DATABASE.contains(name)) {
      throw missing("/{db}/" + name);
    }
    if (name.equals("_temp_view")) {
      throw new LectusException(
          new LectusError.Gone("Temporary views are not supported in CouchDB"));
    }
    return alone ? document : unusableName;
  }

  /** Returns what every database has at this path; null if there is nothing. */
  private Resource inDatabase(List<String> segments, String name) {
    Resource tree = treesInDatabase.get(name);
    if (tree != null) {
      return tree;
    }
    return switch (segments.size()) {
      case 2 -> inDatabase.get(name);
      case 3 -> inDatabase(name, segments.get(2));
      default -> null;
    };
  }

  private Resource inDatabase(String name, String below) {
    if (name.equals("_changes")) {
      return below.equals("_meta") ? changesShards : inDatabase.get(name);
    }
    return below.equals("queries") ? lists.get(name) : null;
  }

  private Resource localDocument(String name) {
    if (name.isEmpty()) {
      throw LectusException.badRequest("Invalid _local document id.");
    }
    return localDocument;
  }

  private Resource named(List<String> segments, String kind) {
    boolean local = kind.equals("_local");
    if (segments.size() == 3) {
      return local ? localDocument : document;
    }
    if (local && segments.size() == 2) {
      return localDocument("");
    }
    if (local) {
      throw LectusException.badRequest("_local documents do not accept attachments.");
    }
    if (segments.size() == 2) {
      return document;
    }
    String action = segments.get(3);
    if (action.equals("_info") && segments.size() == 4) {
      return designInfo;
    }
    if (action.equals("_view")) {
      return view;
    }
    if (action.equals("_update")) {
      return update;
    }
    if (DROPPED_IN_DESIGN.containsKey(action)) {
      throw Requests.notImplemented(
          ("/{db}/_design/{name}/%s is a part of CouchDB that Lectus does not have, and CouchDB 4"
                  + " neither. %s")
              .formatted(action, DROPPED_IN_DESIGN.get(action)));
    }
    if (MISSING_IN_DESIGN.contains(action)) {
      throw missing("/{db}/_design/{name}/" + action);
    }
    return attachment;
  }

  private static LectusException missing(String what) {
    return Requests.notImplemented(what + " is a part of CouchDB that Lectus does not have.");
  }
}
