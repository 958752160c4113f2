package lectus.http;

import java.util.List;
import java.util.Map;
import java.util.Set;
import lectus.document.AllDocsQuery.Listing;
import lectus.error.LectusException;

/** Finds the resource that a path names. */
final class Routes {
  /** Parts of CouchDB's API at the top that Lectus does not have. */
  private static final Set<String> MISSING_AT_TOP =
      Set.of(
          "_utils",
          "_replicate",
          "_scheduler",
          "_node",
          "_cluster_setup",
          "_reshard",
          "_search_analyze",
          "_nouveau_analyze",
          "_reload_query_servers");

  /** The same below a database. */
  private static final Set<String> MISSING_IN_DATABASE =
      Set.of(
          "_find",
          "_index",
          "_explain",
          "_compact",
          "_view_cleanup",
          "_search_cleanup",
          "_nouveau_cleanup",
          "_temp_view",
          "_purge",
          "_purged_infos",
          "_purged_infos_limit",
          "_auto_purge",
          "_time_seq",
          "_shards",
          "_sync_shards");

  private final Map<String, Resource> atTop;
  private final Map<String, Resource> inDatabase;
  private final Map<String, Resource> lists;
  private final Resource root;
  private final Resource database;
  private final Resource document;
  private final Resource localDocument;
  private final Resource partition;
  private final Resource changesShards;

  Routes(Services services, HttpSettings settings) {
    DatabaseNames names = new DatabaseNames();
    Uuids uuids = new Uuids();
    DocumentWrites writes = new DocumentWrites(services, uuids);
    root = new ServerResource(services, settings);
    database = new DatabaseResource(services, names, writes);
    document = new DocumentResource(services, names, writes);
    localDocument = new LocalDocumentResource(services, names, writes);
    partition = new PartitionResource(services, names);
    changesShards = new ChangesShardsResource(services, names);
    atTop =
        Map.of(
            "_up",
            new UpResource(services),
            "_uuids",
            new UuidsResource(uuids, settings),
            "_all_dbs",
            new AllDbsResource(services),
            "_dbs_info",
            new DbsInfoResource(services),
            "_session",
            FixedResource.SESSION,
            "_membership",
            new MembershipResource(services.membership()),
            "_active_tasks",
            FixedResource.ACTIVE_TASKS,
            "_changes",
            new ChangesSocketResource(),
            ExamplePage.NAME,
            new ExamplePage(),
            "_db_updates",
            new DbUpdatesResource(services));
    lists =
        Map.of(
            "_all_docs", new AllDocsResource(services, names, Listing.ALL),
            "_design_docs", new AllDocsResource(services, names, Listing.DESIGN),
            "_local_docs", new AllDocsResource(services, names, Listing.LOCAL));
    inDatabase =
        Map.of(
            "_revs_limit", new RevsLimitResource(services, names),
            "_security", new SecurityResource(services, names),
            "_ensure_full_commit", new EnsureFullCommitResource(services, names),
            "_bulk_docs", new BulkDocsResource(services, names, uuids),
            "_bulk_get", new BulkGetResource(services, names),
            "_changes", new ChangesResource(services, names),
            "_revs_diff", new RevisionsDiffResource(services, names, false),
            "_missing_revs", new RevisionsDiffResource(services, names, true));
  }

  /**
   * @param segments the decoded names of the path
   * @throws LectusException not_found, bad_request or not_implemented
   */
  Resource find(List<String> segments) {
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
    if (top.equals(ExamplePage.NAME)) {
      return atTop.get(top);
    }
    if (atTop.containsKey(top)) {
      throw LectusException.notFound("missing");
    }
    if (MISSING_AT_TOP.contains(top)) {
      throw missing("/" + top);
    }
    if (name.charAt(0) != '_') {
      return segments.size() == 2 ? document : attachment();
    }
    return special(segments, name);
  }

  private Resource special(List<String> segments, String name) {
    int size = segments.size();
    if (name.equals("_design") || name.equals("_local")) {
      return named(segments, name);
    }
    if (name.startsWith("_local/") && size == 2) {
      return localDocument;
    }
    Resource list = lists.get(name);
    if (list != null && (size == 2 || size == 3 && segments.get(2).equals("queries"))) {
      return list;
    }
    if (name.equals("_partition")) {
      return partition;
    }
    Resource known = inDatabase.get(name);
    if (known != null && size == 2) {
      return known;
    }
    if (name.equals("_changes") && size == 3) {
      return segments.get(2).equals("_meta") ? changesShards : known;
    }
    if (MISSING_IN_DATABASE.contains(name)) {
      throw missing("/{db}/" + name);
    }
    return size == 2 ? document : attachment();
  }

  private Resource named(List<String> segments, String kind) {
    boolean local = kind.equals("_local");
    if (segments.size() == 3) {
      return local ? localDocument : document;
    }
    if (local && segments.size() == 2) {
      throw LectusException.badRequest("Invalid _local document id.");
    }
    if (local) {
      throw LectusException.badRequest("_local documents do not accept attachments.");
    }
    if (segments.size() == 2) {
      return document;
    }
    String action = segments.get(3);
    throw missing(action.charAt(0) == '_' ? "/{db}/_design/{name}/" + action : "An attachment");
  }

  private static Resource attachment() {
    throw missing("An attachment");
  }

  private static LectusException missing(String what) {
    return Requests.notImplemented(what + " is a part of CouchDB that Lectus does not have.");
  }
}
