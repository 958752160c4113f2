package lectus.http.testing;

import static lectus.http.testing.SingleQuotes.json;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A database with twenty documents and something of all else that an image has. */
public final class FilledDatabase {
  private static final List<String> PATHS =
      List.of(
          "/_changes?style=all_docs",
          "/_changes?filter=_feed/f",
          "/_all_docs?include_docs=true&conflicts=true",
          "/_local/checkpoint",
          "/_design/d/_view/v?reduce=false",
          "/_security",
          "/d3/a");

  private FilledDatabase() {}

  /** Creates and fills it. */
  public static void fill(LectusServer server, String db) {
    server.put("/" + db).expect(201);
    server.write(
        "/" + db + "/_design/d",
        json("{'views':{'v':{'map':'function(doc){emit(doc.n, null)}','reduce':'_count'}}}"));
    server.post("/" + db + "/_index", json("{'index':{'fields':['n']},'name':'n','ddoc':'n'}"));
    server.put("/" + db + "/_feeds/f", "{\"channels\":\"ch\"}");
    for (int i = 0; i < 20; i++) {
      server.write(
          "/" + db + "/d" + i,
          json("{'n':%s,'ch':'c%s','_attachments':{'a':{'content_type':'text/plain','data':'aGVsbG8='}}}")
              .formatted(i, i % 2));
    }
    server.put("/" + db + "/_local/checkpoint", "{\"seq\":7}");
    server.get("/" + db + "/_design/d/_view/v");
  }

  /** Returns what it shows, by path: the same for each that is the same. */
  public static Map<String, String> shown(LectusServer server, String db) {
    Map<String, String> shown = new TreeMap<>();
    for (String path : PATHS) {
      Answer answer = server.get("/" + db + path);
      shown.put(path, answer.status() + " " + answer.body());
    }
    return shown;
  }
}
