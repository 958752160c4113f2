package lectus.abuse.fuzz;

import java.util.List;

/** Requests to all routes, most of them nearly right. */
final class Requests {
  private static final List<String> METHODS =
      List.of("GET", "HEAD", "PUT", "POST", "DELETE", "COPY", "OPTIONS", "PATCH", "ODD", "TRACE");

  private static final List<String> AT_TOP =
      List.of(
          "",
          "_up",
          "_session",
          "_active_tasks",
          "_membership",
          "_cluster_setup",
          "_utils",
          "_utils/x",
          "_example/",
          "_example/page.js",
          "_example/../x",
          "_lectus/",
          "_lectus/%2e%2e/x",
          "_node/_local",
          "_node/_local/_config",
          "_node/_local/_stats",
          "_node/x/_system",
          "_node",
          "_scheduler/jobs",
          "_scheduler/docs",
          "_scheduler/docs/x",
          "_changes",
          "_replicate",
          "_reshard",
          "_odd",
          "favicon.ico",
          "_all_dbs/x",
          "_search_analyze",
          "/",
          "//",
          "_up/");

  private static final List<String> IN_DATABASE =
      List.of(
          "_find",
          "_index",
          "_explain",
          "_purge",
          "_shards",
          "_sync_shards",
          "_temp_view",
          "_design/d/_view/v",
          "_design/d/_info",
          "_design/d/_update/u",
          "_design/d/_odd",
          "_design/d/_rewrite/x",
          "_odd",
          "_view_cleanup",
          "_purged_infos",
          "_ensure_full_commit",
          "_compact",
          "_compact/d",
          "_search_cleanup",
          "_time_seq",
          "_auto_purge",
          "doc1/att",
          "doc1/a/b",
          "_partition/p",
          "_partition/p/_all_docs",
          "_partition/p/_find",
          "_partition/",
          "_partition/_x",
          "_partition/p/_all_docs/queries",
          "_changes/1",
          "_changes/99999",
          "_changes/x",
          "_changes/-1",
          "_changes/1/2");

  private final Dice dice;
  private final JsonText json;
  private final Parameters parameters;
  private final RequestWriter writer;

  Requests(Dice dice, Seen seen) {
    this.dice = dice;
    json = new JsonText(dice, seen);
    parameters = new Parameters(dice, seen, json);
    writer = new RequestWriter(dice, json);
  }

  FuzzRequest next() {
    if (dice.oneIn(60)) {
      return writer.write(
          method("GET"), "/" + dice.of(AT_TOP) + parameters.ofOthers(), bodyOr(null));
    }
    return switch (dice.below(40)) {
      case 0 -> get("/_all_dbs" + parameters.ofLists());
      case 1 ->
          dice.oneIn(2)
              ? get("/_dbs_info" + parameters.ofLists())
              : post("/_dbs_info", json.databaseKeys());
      case 2 ->
          dice.oneIn(2)
              ? get("/_uuids" + parameters.ofOthers())
              : post("/_session", "{\"name\":\"a\",\"password\":\"b\"}");
      case 3 -> get("/_db_updates" + parameters.ofChanges());
      case 4 -> send("GET", "/" + dice.of(AT_TOP), null);
      default -> ofDatabase("/" + Names.encoded(Names.database(dice), dice));
    };
  }

  private FuzzRequest ofDatabase(String db) {
    return switch (dice.below(44)) {
      case 0, 1 -> send("PUT", db + parameters.ofOthers(), null);
      case 2 -> dice.oneIn(8) ? send("DELETE", db + parameters.none(), null) : get(db);
      case 3 -> get(db + parameters.ofOthers());
      case 4, 5 -> post(db + parameters.ofDocuments(), json.document(dice.oneIn(2)));
      case 6, 7, 8 ->
          get(db + dice.of("/_all_docs", "/_design_docs", "/_local_docs") + parameters.ofLists());
      case 9 ->
          post(
              db + dice.of("/_all_docs", "/_design_docs", "/_local_docs") + parameters.ofLists(),
              json.keys());
      case 10 ->
          post(
              db
                  + dice.of("/_all_docs", "/_design_docs", "/_local_docs")
                  + "/queries"
                  + parameters.none(),
              json.queries());
      case 11, 12, 13 -> post(db + "/_bulk_docs" + parameters.none(), json.bulkDocs());
      case 14, 15 -> post(db + "/_bulk_get" + parameters.ofDocuments(), json.bulkGet());
      case 16 ->
          post(db + dice.of("/_revs_diff", "/_missing_revs") + parameters.none(), json.revsDiff());
      case 17, 18, 19 -> get(db + "/_changes" + parameters.ofChanges());
      case 20 ->
          post(
              db + "/_changes?filter=_doc_ids&" + parameters.ofChanges().substring(1),
              json.documentIds());
      case 21, 22 ->
          post(
              db + "/_changes?filter=_selector&" + parameters.ofChanges().substring(1),
              json.selectorBody());
      case 23 ->
          dice.oneIn(4)
              ? send(
                  "PUT",
                  db + "/_changes/_meta" + parameters.none(),
                  json.bytes(
                      "{\"shards\":"
                          + dice.of("1", "2", "8", "0", "-1", "2000", "\"a\"", "1e2")
                          + "}"))
              : get(db + "/_changes/" + dice.below(12) + parameters.ofChanges());
      case 24 -> get(db + "/_changes/_meta" + parameters.ofChanges());
      case 25 ->
          dice.oneIn(2)
              ? get(db + "/_security")
              : send("PUT", db + "/_security", json.bytes(json.security()));
      case 26 -> setting(db + dice.of("/_revs_limit", "/_purged_infos_limit"));
      case 27 -> send("GET", db + "/" + dice.of(IN_DATABASE) + parameters.none(), null);
      case 28 -> post(db + "/" + dice.of(IN_DATABASE) + parameters.none(), json.anything());
      case 29 ->
          send(
              dice.of("GET", "PUT", "DELETE"),
              db + "/_local/" + document() + parameters.ofDocuments(),
              bodyOr(json.document(false)));
      case 30 ->
          send(
              dice.of("GET", "PUT", "DELETE"),
              db + "/_design/" + dice.of("d", "e") + parameters.ofDocuments(),
              bodyOr(json.designDocument()));
      case 31 -> send("COPY", db + "/" + document() + parameters.ofDocuments(), null);
      case 32, 33 ->
          send(
              "DELETE",
              db + "/" + document() + "?rev=" + Names.encoded(json.revision(), dice),
              null);
      case 34, 35, 36, 37, 38 ->
          send(
              "PUT",
              db + "/" + document() + parameters.ofDocuments(),
              json.bytes(json.document(false)));
      default -> get(db + "/" + document() + parameters.ofDocuments());
    };
  }

  private String document() {
    return Names.encoded(Names.document(dice), dice).replace("_design%2f", "_design/");
  }

  private FuzzRequest setting(String target) {
    return dice.oneIn(2)
        ? get(target)
        : send(
            "PUT",
            target,
            json.bytes(dice.of("1", "1000", "0", "-1", "1e3", "99999999999", "\"1\"", "")));
  }

  private FuzzRequest get(String target) {
    return send(dice.oneIn(10) ? "HEAD" : "GET", target, null);
  }

  private FuzzRequest post(String target, String body) {
    return send("POST", target, json.bytes(body));
  }

  private FuzzRequest send(String method, String target, byte[] body) {
    byte[] perhapsOther = dice.oneIn(30) ? bodyOr(null) : body;
    return writer.write(method(method), target, perhapsOther);
  }

  private String method(String usual) {
    return dice.oneIn(40) ? dice.of(METHODS) : usual;
  }

  private byte[] bodyOr(String usual) {
    if (dice.oneIn(3)) {
      return json.bytes(json.anything());
    }
    return usual == null ? null : json.bytes(usual);
  }
}
