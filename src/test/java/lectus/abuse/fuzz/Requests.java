package lectus.abuse.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import lectus.abuse.fuzz.Dice.Names;
import lectus.abuse.fuzz.Fuzz.Seen;
import lectus.abuse.fuzz.JsonText.Mutation;
import lectus.http.testing.Request;

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

  /**
   * Builds a request: its request line, headers of all sorts, its body in one piece or in chunks.
   */
  private static final class RequestWriter {
    private static final int LONGEST_CHUNK = 5_000;

    private final Dice dice;
    private final JsonText json;

    RequestWriter(Dice dice, JsonText json) {
      this.dice = dice;
      this.json = json;
    }

    /**
     * @param body null: none
     */
    FuzzRequest write(String method, String target, byte[] body) {
      StringBuilder head = new StringBuilder(method + ' ' + target + " HTTP/1.1\r\n");
      boolean upgrading = dice.oneIn(250);
      header(head, "Host", "127.0.0.1");
      if (method.equals("COPY") || dice.oneIn(300)) {
        destination(head);
      }
      for (int i = dice.below(6) / 3; i > 0; i--) {
        oddHeader(head);
      }
      if (upgrading) {
        upgrade(head);
      }
      byte[] framed = body == null ? new byte[0] : framed(head, body);
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      bytes.writeBytes((head + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
      bytes.writeBytes(framed);
      boolean live = upgrading || isLive(target);
      FuzzRequest.Kind kind = live ? FuzzRequest.Kind.LIVE : FuzzRequest.Kind.WHOLE;
      return new FuzzRequest(kind, bytes.toByteArray(), method.equals("HEAD"));
    }

    private static boolean isLive(String target) {
      return target.toLowerCase(Locale.ROOT).contains("feed=");
    }

    private static void header(StringBuilder head, String name, String value) {
      head.append(name).append(": ").append(value).append("\r\n");
    }

    private void destination(StringBuilder head) {
      String rev = dice.oneIn(3) ? "?rev=" + Names.encoded(json.revision(), dice) : "";
      header(head, "Destination", Names.encoded(Names.document(dice), dice) + rev);
    }

    private void oddHeader(StringBuilder head) {
      switch (dice.below(14)) {
        case 0 -> header(head, "If-Match", quoted(json.revision()));
        case 1 -> header(head, "If-None-Match", dice.of("*", "\"\"", quoted(json.revision())));
        case 2 ->
            header(
                head,
                "Accept",
                dice.of(
                    "*/*",
                    "application/json",
                    "multipart/mixed",
                    "text/html;q=0.5, */*;q=0.1",
                    "multipart/related, */*",
                    "a/b;q=x",
                    ";;;",
                    ""));
        case 3 -> header(head, "X-Couch-Request-ID", dice.of("abc", "a".repeat(37), "x y", ""));
        case 4 -> header(head, "X-Couch-Full-Commit", dice.of("true", "false", "odd"));
        case 5 ->
            header(head, "Authorization", dice.of("Basic YTpi", "Basic %", "Bearer x", "Basic"));
        case 6 ->
            header(head, "Cookie", dice.of("AuthSession=", "AuthSession=YQ==", "a=b; c", ";=;"));
        case 7 ->
            header(
                head, "Origin", dice.of("http://127.0.0.1", "null", "https://evil.example", "x"));
        case 8 -> header(head, "Range", dice.of("bytes=0-1", "bytes=9-", "odd=1", "bytes=-"));
        case 9 -> header(head, "Last-Event-ID", dice.of("0", "now", "", "x".repeat(500)));
        case 10 -> header(head, "Accept-Encoding", dice.of("gzip", "gzip;q=0, *", "br", "*;q=x"));
        case 11 -> header(head, "X-Forwarded-Host", dice.of("a.example", "a b", "a:x", "[::1]:5"));
        case 12 -> header(head, "X-HTTP-Method-Override", dice.of("PUT", "DELETE", "ODD"));
        default -> header(head, "X-Long", "v".repeat(dice.below(9_000)));
      }
    }

    /** Header values have to be printable for the request to be well formed. */
    private static String quoted(String text) {
      return '"' + text.replaceAll("[^ -~]", "?") + '"';
    }

    private void upgrade(StringBuilder head) {
      header(head, "Connection", "Upgrade");
      header(head, "Upgrade", dice.of("websocket", "h2c", "odd", "websocket, h2c"));
      header(head, "Sec-WebSocket-Version", dice.of("13", "8", "x"));
      header(head, "Sec-WebSocket-Key", dice.of("AAAAAAAAAAAAAAAAAAAAAA==", "x", ""));
      if (dice.oneIn(2)) {
        header(head, "Sec-WebSocket-Protocol", dice.of("lectus.changes.v1", "odd", ",", "a, b"));
      }
      if (dice.oneIn(3)) {
        header(head, "HTTP2-Settings", dice.of("AAMAAABkAAQCAAAAAAIAAAAA", "x", ""));
      }
    }

    private byte[] framed(StringBuilder head, byte[] body) {
      if (!dice.oneIn(20)) {
        header(
            head,
            "Content-Type",
            dice.oneIn(15)
                ? dice.of(
                    "text/plain",
                    "application/x-www-form-urlencoded",
                    "multipart/form-data",
                    "multipart/related; boundary=a",
                    "multipart/related",
                    "application/json;charset=x",
                    "a",
                    ";",
                    "application/octet-stream")
                : "application/json");
      }
      byte[] sent = body;
      if (dice.oneIn(40)) {
        String coding = dice.of("gzip", "gzip", "identity", "deflate", "br");
        header(head, "Content-Encoding", coding);
        sent = coding.equals("gzip") && !dice.oneIn(4) ? Request.gzip(body) : body;
      }
      if (dice.oneIn(60)) {
        header(head, "Expect", dice.of("100-continue", "odd"));
      }
      if (dice.oneIn(10)) {
        header(head, "Transfer-Encoding", "chunked");
        return chunked(sent);
      }
      header(head, "Content-Length", Integer.toString(sent.length));
      return sent;
    }

    private byte[] chunked(byte[] body) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      for (int at = 0; at < body.length; ) {
        int end = Math.min(body.length, at + 1 + dice.below(LONGEST_CHUNK));
        String extension = dice.oneIn(10) ? ";a=b" : "";
        out.writeBytes(ascii(Integer.toHexString(end - at) + extension + "\r\n"));
        out.writeBytes(Arrays.copyOfRange(body, at, end));
        out.writeBytes(ascii("\r\n"));
        at = end;
      }
      out.writeBytes(ascii(dice.oneIn(10) ? "0\r\nX-Trailer: x\r\n\r\n" : "0\r\n\r\n"));
      return out.toByteArray();
    }

    private static byte[] ascii(String text) {
      return text.getBytes(StandardCharsets.ISO_8859_1);
    }
  }

  /** Query strings. */
  private static final class Parameters {
    private static final List<String> LISTS =
        List.of(
            "startkey",
            "endkey",
            "start_key",
            "end_key",
            "key",
            "keys",
            "limit",
            "skip",
            "descending",
            "inclusive_end",
            "include_docs",
            "conflicts",
            "update_seq",
            "startkey_docid",
            "endkey_docid",
            "stable",
            "update",
            "reduce",
            "group",
            "partition");

    private static final List<String> CHANGES =
        List.of(
            "since",
            "until",
            "limit",
            "descending",
            "include_docs",
            "conflicts",
            "style",
            "filter",
            "doc_ids",
            "seq_interval",
            "heartbeat",
            "timeout",
            "feed",
            "last-event-id",
            "view",
            "attachments",
            "att_encoding_info");

    private static final List<String> DOCUMENTS =
        List.of(
            "rev",
            "revs",
            "revs_info",
            "open_revs",
            "conflicts",
            "deleted_conflicts",
            "latest",
            "local_seq",
            "meta",
            "fields",
            "new_edits",
            "batch",
            "atts_since",
            "attachments");

    private static final List<String> OTHERS =
        List.of(
            "count",
            "q",
            "n",
            "partitioned",
            "changes_shards",
            "placement",
            "w",
            "odd",
            "",
            "next",
            "basic",
            "keys_limit");

    private static final List<String> EXTREMES =
        List.of(
            "",
            "null",
            "true",
            "false",
            "-1",
            "0",
            "1",
            "2147483648",
            "9223372036854775807",
            "9223372036854775808",
            "1e9",
            "-0",
            "NaN",
            "[]",
            "{}",
            "\"",
            "[\"a\"",
            "now",
            "all",
            "9".repeat(2_000),
            "[".repeat(3_000),
            "\u0000",
            "\uffff",
            "ä",
            "_",
            "0-",
            "\u001b[31m",
            "[[[[1]]]]",
            "{\"a\":1}",
            "\"\\ud800\"");

    private final Dice dice;
    private final Seen seen;
    private final JsonText json;

    Parameters(Dice dice, Seen seen, JsonText json) {
      this.dice = dice;
      this.seen = seen;
      this.json = json;
    }

    String none() {
      return dice.oneIn(30) ? "?" + some(List.of(OTHERS), 2) : "";
    }

    String ofLists() {
      return "?" + some(List.of(LISTS), 4);
    }

    String ofChanges() {
      return "?" + some(List.of(CHANGES), 4);
    }

    String ofDocuments() {
      return dice.oneIn(2) ? "" : "?" + some(List.of(DOCUMENTS), 3);
    }

    String ofOthers() {
      return dice.oneIn(2) ? "" : "?" + some(List.of(OTHERS), 2);
    }

    private String some(List<List<String>> kinds, int most) {
      List<String> all = new ArrayList<>();
      for (int i = dice.below(most + 1); i > 0; i--) {
        String name =
            dice.oneIn(20)
                ? dice.of(dice.of(LISTS, CHANGES, DOCUMENTS, OTHERS))
                : dice.of(dice.of(kinds));
        all.add(name + "=" + Names.encoded(value(name), dice));
      }
      return String.join("&", all);
    }

    private String value(String name) {
      if (dice.oneIn(7)) {
        return dice.of(EXTREMES);
      }
      return switch (name) {
        case "startkey", "endkey", "start_key", "end_key", "key" -> key();
        case "keys", "doc_ids" -> json.idList();
        case "limit", "skip", "count", "seq_interval", "keys_limit" ->
            Integer.toString(dice.below(30));
        case "since", "until", "last-event-id" -> sequence();
        case "style" -> dice.of("main_only", "all_docs", "odd");
        case "filter" -> dice.of("_doc_ids", "_selector", "_design", "_view", "d/f", "odd");
        case "feed" ->
            dice.of("normal", "normal", "continuous", "longpoll", "eventsource", "live", "odd");
        case "timeout", "heartbeat" -> dice.of("1", "10", "100", "1000", "60000", "true");
        case "rev" -> json.revision();
        case "open_revs" -> dice.oneIn(2) ? "all" : "[" + JsonText.string(json.revision()) + "]";
        case "atts_since" -> "[" + JsonText.string(json.revision()) + "]";
        case "fields" ->
            dice.of("[\"a1\"]", "[\"a.b\",\"_id\"]", "[\"x1\",\"x1.y\"]", "[1]", "[\"\"]", "a");
        case "changes_shards" -> dice.of("1", "2", "4", "16", "1025");
        case "batch" -> "ok";
        case "partition" -> dice.of("p", "\"p\"");
        case "view" -> dice.of("d/v", "d", "_all_docs");
        case "update", "stable" -> dice.of("true", "false", "lazy");
        default -> dice.of("true", "true", "false");
      };
    }

    private String key() {
      return dice.oneIn(4) ? json.value(1) : JsonText.string(Names.document(dice));
    }

    private String sequence() {
      return switch (dice.below(6)) {
        case 0 -> "now";
        case 1 ->
            new String(
                Mutation.of(seen.sequence(dice).getBytes(StandardCharsets.UTF_8), dice),
                StandardCharsets.ISO_8859_1);
        default -> seen.sequence(dice);
      };
    }
  }

  /**
   * One request, byte for byte.
   *
   * @param toHead whether the answer has no body, whatever its length says
   */
  record FuzzRequest(Kind kind, byte[] bytes, boolean toHead) {
    enum Kind {
      /** Well formed: it is answered, and others may follow on its connection. */
      WHOLE,
      /** Well formed, but its answer may never end: it is answered, and its client leaves. */
      LIVE,
      /** Perhaps not HTTP at all: it is answered, or its connection is closed. */
      RAW
    }

    /** For a report, with unprintable bytes escaped as in {@code printf}. */
    @Override
    public String toString() {
      StringBuilder out = new StringBuilder();
      String text = new String(bytes, StandardCharsets.ISO_8859_1);
      for (char c : text.substring(0, Math.min(text.length(), 4_000)).toCharArray()) {
        switch (c) {
          case '\r' -> out.append("\\r");
          case '\n' -> out.append("\\n");
          case '\\' -> out.append("\\\\");
          default ->
              out.append(
                  c >= ' ' && c < 127 ? String.valueOf(c) : String.format("\\x%02x", (int) c));
        }
      }
      return out + (text.length() > 4_000 ? "… (" + text.length() + " bytes)" : "");
    }
  }
}
